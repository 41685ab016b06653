import { after, describe, test } from 'node:test'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { seed } from '../../../../test/harness/seed.ts'
import { startMariadb } from '../../test/mariadb.ts'
import { stagingBucket, startRedshiftServer } from '../../test/redshift-server.ts'
import { kinds } from '../../test/value-kinds.ts'
import { openValuePairs, type Store } from '../../test/value-pairs.ts'
import { localFolder } from '../local-folder/local-folder.ts'
import { mysql } from '../mysql/mysql.ts'
import { amazonRedshiftDestination } from '../redshift/amazon-redshift-destination.ts'
import { amazonRedshiftSource } from '../redshift/amazon-redshift-source.ts'

const pairs = await openValuePairs()
const mariadb = await startMariadb()
const redshift = await startRedshiftServer()
after(() => Promise.all([pairs.close(), mariadb?.stop(), redshift.close()]))

const file = (fileFormat: string): Store => ({
  connector: localFolder,
  secrets: { folder: pairs.folder },
  from: { files: 'value-*' },
  to: { fileFormat, prefix: 'value-' },
  // A CSV file has one way to write both.
  hasNoEmptyText: fileFormat === 'CSV',
})
const warehouse: Store = {
  connector: amazonRedshiftSource,
  writer: amazonRedshiftDestination,
  secrets: redshift.secrets,
  routes: redshift.routes,
  from: { schema: 'crm', table: 'middle' },
  to: { schema: 'crm', table: 'middle', stagingPath: `s3://${stagingBucket}/` },
}
const middle: Store = {
  connector: mysql,
  secrets: mariadb?.secrets ?? {},
  from: { table: 'middle' },
  to: { table: 'middle' },
}

for (const format of ['CSV', 'NDJSON', 'Parquet']) {
  describe(`values from PostgreSQL through ${format} to PostgreSQL`, () => {
    for (const kind of kinds) {
      test(`${kind.postgresql}: arrive as they were (PENSTOCK_TEST_SEED=${seed})`, async () => {
        await pairs.empty()
        await pairs.pass(kind, file(format))
      })
    }
  })
}

describe('values from PostgreSQL through MariaDB to PostgreSQL', { skip: skipWithout('mariadbd') }, () => {
  for (const kind of kinds) {
    test(`${kind.postgresql}: arrive as they were (PENSTOCK_TEST_SEED=${seed})`, async () => {
      await mariadb?.query(`drop table if exists penstock.middle, penstock.penstock_batches`)
      await mariadb?.query(
        `create table penstock.middle (id int primary key, value ${kind.mariadb}) character set utf8mb4`,
      )
      await pairs.pass(kind, middle)
    })
  }
})

describe('values from PostgreSQL through Redshift to PostgreSQL', () => {
  for (const kind of kinds) {
    test(`${kind.postgresql}: arrive as they were (PENSTOCK_TEST_SEED=${seed})`, async () => {
      await redshift.query('drop table if exists crm.middle, crm.penstock_batches')
      await redshift.query(`create table crm.middle (id int, value ${kind.redshift ?? kind.postgresql})`)
      await pairs.pass(kind, warehouse)
    })
  }
})
