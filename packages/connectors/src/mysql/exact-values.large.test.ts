import { after, describe, test } from 'node:test'
import { testContext } from '@penstock/connector/acceptance'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { startMariadb } from '../../test/mariadb.ts'
import { batchOf, deliver } from '../../test/tables.ts'
import { assertExact, rows } from '../../test/typed-texts.ts'
import { mysql } from './mysql.ts'

const server = await startMariadb()
after(() => server?.stop())

const types = [
  ...[
    'tinyint',
    'smallint',
    'int',
    'int unsigned',
    'bigint',
    'decimal(10,2)',
    'decimal(4,0)',
    'float',
    'double',
    'boolean',
  ],
  ...['date', 'datetime', 'datetime(3)', 'timestamp(6) null', 'time', 'time(6)', 'year'],
  ...[
    'char(3)',
    'varchar(3)',
    'tinytext',
    'longtext',
    'binary(3)',
    'varbinary(9)',
    'longblob',
    "enum('happy')",
    "set('happy')",
    'bit(3)',
    'json',
  ],
  ...['uuid', 'inet4', 'inet6'],
]

describe('texts in columns of MariaDB', { skip: server ? false : skipWithout('mariadbd') }, () => {
  const columns = ['id', 'value']
  const settings = { table: 'target' }
  let batches = 0
  const indexesOf = (rejected: readonly { readonly index?: number }[]) =>
    new Set(rejected.map(({ index = -1 }) => index))

  for (const type of types) {
    test(`${type}: each is stored as it is, or rejected`, async () => {
      const { secrets = {}, query } = server ?? {}
      await query?.('drop table if exists penstock.target')
      await query?.(`create table penstock.target (id int primary key, value ${type}) character set utf8mb4`)
      const context = testContext({ secrets, settings })
      const tried = await mysql.destination?.deliver?.tryRows?.({ ...context, columns, rows })
      const { rejected = [] } = await deliver(mysql, { secrets, settings }, batchOf(columns, rows, ++batches))
      const shown = /binary|blob/.test(type)
        ? `concat('\\\\x', lower(hex(value)))`
        : /bit/.test(type)
          ? 'value + 0'
          : 'value'
      const found = await query?.<{ id: number; value: string | null }>(
        `select id, cast(${shown} as char) as value from penstock.target order by id`,
      )
      const stored = new Map(found?.map(({ id, value }) => [id, value]))
      assertExact(
        type === 'boolean' ? 'tinyint(1)' : type,
        stored,
        indexesOf(rejected),
        indexesOf(tried?.rejected ?? []),
      )
    })
  }
})
