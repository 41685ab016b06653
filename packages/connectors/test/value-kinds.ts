import fc from '../../../test/harness/property.ts'

/** A type of PostgreSQL whose values pass through other stores, and what holds them there. */
export type Kind = {
  readonly postgresql: string
  readonly mariadb: string
  /** Absent if it is that of PostgreSQL. */
  readonly redshift?: string
  /** The type of DuckDB, which the servers of warehouses have behind them; absent if it is that of PostgreSQL. */
  readonly duckdb?: string
  readonly values: fc.Arbitrary<string>
}

const digits = (max: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: max })
const text = fc
  .string({ unit: 'binary', maxLength: 12 })
  .filter((value) => !value.includes('\0') && value.isWellFormed())
const day = fc
  .date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((at) => at.toISOString().slice(0, 10))
const clock = fc
  .tuple(fc.nat(86_399), fc.nat(999_999))
  .map(([second, micro]) => `${new Date(second * 1000).toISOString().slice(11, 19)}.${String(micro).padStart(6, '0')}`)
const bytes = fc.uint8Array({ maxLength: 20 }).map((value) => `\\x${Buffer.from(value).toString('hex')}`)

export const kinds: readonly Kind[] = [
  { postgresql: 'bigint', mariadb: 'bigint', values: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String) },
  { postgresql: 'integer', mariadb: 'int', values: fc.integer().map(String) },
  {
    postgresql: 'numeric(30,4)',
    mariadb: 'decimal(30,4)',
    values: fc.tuple(fc.constantFrom('', '-'), digits(20), digits(4)).map(([sign, a, b]) => `${sign}${a}.${b}`),
  },
  {
    postgresql: 'double precision',
    mariadb: 'double',
    duckdb: 'double',
    values: fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((value) => String(Object.is(value, -0) ? 0 : value)),
  },
  { postgresql: 'boolean', mariadb: 'boolean', values: fc.constantFrom('true', 'false') },
  { postgresql: 'text', mariadb: 'longtext', redshift: 'varchar(100)', duckdb: 'varchar', values: text },
  { postgresql: 'bytea', mariadb: 'longblob', redshift: 'varbyte', duckdb: 'blob', values: bytes },
  { postgresql: 'date', mariadb: 'date', values: day },
  { postgresql: 'time', mariadb: 'time(6)', values: clock },
  { postgresql: 'timestamp', mariadb: 'datetime(6)', values: fc.tuple(day, clock).map((parts) => parts.join(' ')) },
  { postgresql: 'uuid', mariadb: 'char(36)', redshift: 'varchar(36)', duckdb: 'varchar', values: fc.uuid() },
  // SUPER has numbers of its own, and takes a null of JSON for none.
  {
    postgresql: 'json',
    mariadb: 'json',
    redshift: 'varchar(65535)',
    duckdb: 'varchar',
    values: fc.json().filter((value) => !value.includes('\\u0000')),
  },
  {
    postgresql: 'bigint[]',
    mariadb: 'longtext',
    redshift: 'varchar(65535)',
    duckdb: 'varchar',
    values: fc.array(fc.bigInt(0n, 2n ** 62n)).map((all) => `{${all}}`),
  },
]
