"""Names of the libraries people come from, over tutti: change one import line, or run the script as it is:

python -m tutti run script.py
"""
