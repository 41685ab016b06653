/** The encoding of the database, which texts of all languages need. */
export const neededEncoding = 'UTF8'

/** Why a database of this encoding cannot be used, and what to do. */
export const wrongEncoding = (encoding: string): string =>
  `The encoding of the database is ${encoding}, which does not have every character. Create a database with UTF-8: create database penstock template template0 encoding 'UTF8'`
