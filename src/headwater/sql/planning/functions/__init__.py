"""How functions are computed: as Spark SQL, a module for each category of the catalogue."""
