"""Tables: releases of real flights, their errors beside peers', and a hundred copies of them."""
