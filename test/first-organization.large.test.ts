import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { createTestDatabase } from './harness/database.ts'
import { prepareStage, tokenOf } from './harness/process.ts'
import { withSession } from './harness/session.ts'

/** The first organization is created once, and never where its credentials would be lost. */

const countOrganizations = (url: string) =>
  withSession(url, async (session) => (await session.query('select id from organizations')).rows.length)

describe('the first organization', { concurrency: 2 }, () => {
  test('is created by one of three processes that start together, each with its own data directory', async (t) => {
    const { url, drop } = await createTestDatabase()
    t.after(drop)
    const env = { DATABASE_URL: url, PENSTOCK_MASTER_KEY: generateMasterKey(), PENSTOCK_WORKER: '0' }
    const stages = await Promise.all([1, 2, 3].map(() => prepareStage(t)))
    const processes = await Promise.all(stages.map(async (stage) => ({ stage, served: await stage.serve({ env }) })))
    assert.equal(await countOrganizations(url), 1)
    const kept = processes.filter(({ stage }) => existsSync(join(stage.dataDirectory, 'credentials.json')))
    assert.equal(kept.length, 1)
    for (const { stage, served } of kept) assert(await tokenOf(served, stage.dataDirectory))
  })

  test('is not created with PENSTOCK_FIRST_ORGANIZATION=0, and the start says how to create it', async (t) => {
    const { url, drop } = await createTestDatabase()
    t.after(drop)
    const stage = await prepareStage(t)
    const env = {
      DATABASE_URL: url,
      PENSTOCK_MASTER_KEY: generateMasterKey(),
      PENSTOCK_WORKER: '0',
      PENSTOCK_FIRST_ORGANIZATION: '0',
    }
    const served = await stage.serve({ env })
    assert.equal(await countOrganizations(url), 0)
    assert.equal(existsSync(join(stage.dataDirectory, 'credentials.json')), false)
    assert.match(served.said.stdout, /There is no organization yet\..*\n.*penstock org create --name/)
    assert.doesNotMatch(served.said.stdout, /undefined/)
    const made = await stage.penstock(
      ['org', 'create', '--name', 'Acme', '--owner-email', 'ada@example.com', '--json'],
      {
        env,
      },
    )
    assert.equal(made.code, 0, made.stderr)
    const { clientId, clientSecret } = JSON.parse(made.stdout)
    assert(await tokenOf(served, stage.dataDirectory, { clientId, clientSecret }))
    assert.equal(await countOrganizations(url), 1)
  })

  test('is created with credentials of the settings, which are not lost, also with PENSTOCK_FIRST_ORGANIZATION=0', async (t) => {
    const { url, drop } = await createTestDatabase()
    t.after(drop)
    const credentials = { clientId: 'first', clientSecret: 'a-secret-of-some-length' }
    const env = {
      DATABASE_URL: url,
      PENSTOCK_MASTER_KEY: generateMasterKey(),
      PENSTOCK_WORKER: '0',
      PENSTOCK_FIRST_ORGANIZATION: '0',
      PENSTOCK_CLIENT_ID: credentials.clientId,
      PENSTOCK_CLIENT_SECRET: credentials.clientSecret,
    }
    const stage = await prepareStage(t)
    const served = await stage.serve({ env })
    assert(await tokenOf(served, stage.dataDirectory, credentials))
    assert.equal(await countOrganizations(url), 1)
  })
})
