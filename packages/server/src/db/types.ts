import pg from 'pg'

/** int8 arrives as a number: counts and volumes stay below 2^53. */
const numbers = { [pg.types.builtins.INT8]: Number }

/** How the texts that PostgreSQL sends are read. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    numbers[oid] ?? pg.types.getTypeParser(oid, format)) as pg.CustomTypesConfig['getTypeParser'],
}
