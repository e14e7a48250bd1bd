"""What a workspace says of itself: its status, what a plan does, what runs would cost."""
