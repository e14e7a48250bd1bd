"""What a workspace defines: texts and settings that are read and checked, and their commits."""
