import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { loadConnector } from '@penstock/connectors/load'
import type { Browser } from 'playwright-core'
import { sha256 } from '../packages/connectors/test/digest.ts'
import {
  type RedditServer,
  redditRoutes,
  redditSecrets,
  startReddit,
} from '../packages/connectors/test/reddit-server.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { DataKey } from '../packages/server/src/secrets/data-keys.ts'
import { places, sealJson } from '../packages/server/src/transfers/sealed.ts'
import { Audiences } from '../packages/server/src/transfers/supervisor/audiences.ts'
import { Claims } from '../packages/server/src/transfers/supervisor/claim.ts'
import { workOnTransfers } from '../packages/server/src/transfers/supervisor/work.ts'
import { accessibilityViolations, launchBrowser, openPage, skip } from './harness/browser.ts'
import { addFolder, localFolder, makeInbox } from './harness/connections.ts'
import { signIn } from './harness/console.ts'
import { engineOf } from './harness/engine-of.ts'
import { type Caller, callerOf, connectorBySlug } from './harness/fixtures.ts'
import { createInProcessRunners } from './harness/in-process-runners.ts'
import { freePort } from './harness/process.ts'
import { type Organization, startTestService, type TestService } from './harness/service.ts'
import { noLimits } from './harness/supervision.ts'

/** The audience of a connection in the console: its size now, its days as a chart, and why the platform could not be asked. */

const reddit = connectorBySlug('reddit-audiences')
const oneAudience = /GET .*\/custom_audiences\/[\w.-]+$/

describe('the audience of a connection, in the console', { skip }, async () => {
  const inbox = await makeInbox()
  let api: RedditServer
  let url: string
  let service: TestService
  let organization: Organization
  let caller: Caller
  let browser: Browser
  let accountId: string
  let id: string
  const measure = async () => {
    await service.database.pool.query('update audience_checks set next_time = now()')
    const log = createLogger('warn', { write: (line) => void service.logLines.push(line) })
    const audiences = new Audiences(engineOf(service), log, new AbortController().signal)
    await audiences.begin()
    await audiences.ended()
  }

  before(async () => {
    api = await startReddit()
    const runners = createInProcessRunners({ localFolders: [inbox.folder], loadConnector }, redditRoutes(api.url))
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    service = await startTestService({ ...inbox.env, PENSTOCK_PUBLIC_URL: url }, {}, runners)
    await service.service.app.listen({ host: '127.0.0.1', port })
    organization = await service.addOrganization()
    caller = callerOf(service, organization)
    accountId = (await caller.addAccount()).id
    await addFolder(caller, accountId, inbox.folder)
    await caller.addConnectors(accountId, reddit)
    await caller.expect(
      caller.call('configureConnector', { accountId, id: reddit.id, body: { secretConfig: redditSecrets } }),
    )
    const rows = `segment_name,action,email_sha256\nLoyal customers,add,${sha256('jane@example.com')}\n`
    await writeFile(join(inbox.folder, 'members.csv'), rows)
    const body = {
      name: 'Members',
      srcConnectorId: localFolder.id,
      destConnectorId: reddit.id,
      srcConnectionConfig: { files: 'members.csv' },
      destConnectionConfig: { advertiserId: 'a2_loyal' },
    }
    id = (await caller.expect(caller.call('createConnection', { accountId, body }))).id
    await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
    await caller.expect(caller.call('startTransfer', { accountId, id, body: {} }))
    const log = createLogger('warn', { write: (line) => void service.logLines.push(line) })
    await workOnTransfers(engineOf(service), new Claims(noLimits), log, new AbortController().signal)
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    await api?.close()
    await inbox.remove()
  })

  /** Stores a measure as it was some days ago. */
  const measured = async (daysAgo: number, size: number) => {
    const { rows } = await service.database.pool.query<{ data_key_id: string }>(
      'select data_key_id from connection_states where connection_id = $1',
      [id],
    )
    const key = new DataKey(service.service.deps.keyring, rows[0]?.data_key_id ?? '', async () => {})
    const day = new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)
    const [audience] = api.audiences
    const measures = [
      {
        id: audience?.id ?? '',
        name: 'Loyal customers',
        low: size,
        high: size,
        received: null,
        matched: null,
        status: 'VALID',
      },
    ]
    const sealed = sealJson(await key.open(service.database), places.audiences(id, day), measures)
    await service.database.pool.query(
      'insert into audience_measures (connection_id, day, sealed) values ($1, $2, $3)',
      [id, day, sealed],
    )
  }

  test('is on the page of the connection, before the platform was asked, after it, and if it cannot be asked', async () => {
    const { page, close } = await openPage(browser, url)
    await page.goto(`/accounts/${accountId}/connections/${id}`)
    await signIn(page, organization)
    await page.setViewportSize({ width: 1440, height: 900 })
    const card = page.getByRole('region', { name: 'Audience' })
    await card.getByText('The platform is asked an hour after the first transfer.').waitFor()
    for (const [daysAgo, size] of [
      [6, 900],
      [5, 2_500],
      [4, 4_100],
      [2, 4_800],
      [1, 5_200],
    ] as const) {
      await measured(daysAgo, size)
    }
    api.failure(oneAudience, {
      json: {
        data: {
          id: api.audiences[0]?.id,
          name: 'Loyal',
          status: 'VALID',
          size_range_lower: 5_000,
          size_range_upper: 6_000,
        },
      },
    })
    await measure()
    await page.reload()
    await card.getByText('Loyal customers').waitFor()
    await card.getByText('5,000 to 6,000 people').waitFor()
    await card.getByText('VALID').waitFor()
    await card
      .getByRole('img', { name: 'Size of Loyal customers by day' })
      .locator('path.recharts-line-curve')
      .waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    if (process.env.PENSTOCK_TEST_PICTURES) {
      await card.scrollIntoViewIfNeeded()
      await page.screenshot({ path: join(process.env.PENSTOCK_TEST_PICTURES, 'audience.png'), fullPage: true })
    }
    api.failure(oneAudience, { status: 403, json: {} })
    await measure()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.reload()
    await card.getByText('The platform could not be asked').waitFor()
    await card.getByText('5,000 to 6,000 people').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is cut off on a phone')
    await close()
  })

  test('is in the report of audiences of the sub-account, and in its file', async () => {
    const { page, close } = await openPage(browser, url)
    await page.goto(`/accounts/${accountId}/reports`)
    await signIn(page, organization)
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.getByText('Audience sizes', { exact: true }).click()
    const line = page.getByRole('row').filter({ hasText: 'Members' })
    await line.getByText('Loyal customers', { exact: true }).waitFor()
    await line.getByText('5,000 to 6,000 people', { exact: true }).waitFor()
    await line.getByText(/^\+5,100 since /).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    if (process.env.PENSTOCK_TEST_PICTURES) {
      await page.screenshot({ path: join(process.env.PENSTOCK_TEST_PICTURES, 'audience-report.png') })
    }
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ])
    const [head, first, last, ...rest] = (await readFile(await download.path(), 'utf8')).split('\r\n')
    assert.equal(head, 'id,name,audience_id,audience,status,day,size_low,size_high,received,matched')
    assert.match(first ?? '', /,Loyal customers,VALID,\d{4}-\d\d-\d\d,900,900,,$/)
    assert.match(last ?? '', /,Loyal customers,VALID,\d{4}-\d\d-\d\d,5000,6000,,$/)
    assert.deepEqual(rest, [''])
    await page.setViewportSize({ width: 390, height: 844 })
    assert.deepEqual(await accessibilityViolations(page), [])
    assert(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is cut off on a phone')
    if (process.env.PENSTOCK_TEST_PICTURES) {
      await page.screenshot({ path: join(process.env.PENSTOCK_TEST_PICTURES, 'audience-report-390.png') })
    }
    await close()
  })
})
