"""What leaves a conversation: decisions, preferences, facts and"
" things to do, stored before they are lost."""
