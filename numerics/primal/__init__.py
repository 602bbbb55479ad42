"""The documents' optimization problems, handed to a conic solver as they are printed. No closed form is known here."""
