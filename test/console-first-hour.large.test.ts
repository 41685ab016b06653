import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { loadConnector } from '@penstock/connectors/load'
import pg from 'pg'
import type { Browser, Page } from 'playwright-core'
import { metaSecrets, startMeta } from '../packages/connectors/test/meta-server.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { startWorker } from '../packages/server/src/worker/worker.ts'
import { awkward, csvOf } from './harness/awkward.ts'
import { launchBrowser, openPage, skip } from './harness/browser.ts'
import { signIn } from './harness/console.ts'
import { createTestDatabase } from './harness/database.ts'
import { type Actor, clearFrames, type Film, film, isFilming, writeFilm } from './harness/film.ts'
import { createInProcessRunners } from './harness/in-process-runners.ts'
import { ownerLink } from './harness/owner-link.ts'
import { freePort, prepareStage } from './harness/process.ts'
import { startTestService } from './harness/service.ts'
import { postgresqlSecrets } from './harness/transfers.ts'

/**
 * The first hour of a new user: three ways to moved rows, each with a limited number of clicks. `npm run film` takes pictures
 * of it.
 */

const look = { width: 1120, height: 760, theme: 'light' } as const
const customers = `Kundennummer,Vorname,E-Mail\n${Array.from({ length: 200 }, (_, n) => `${n + 1},Person ${n + 1},p${n + 1}@example.com`).join('\n')}\n`

describe('the first hour', { skip }, () => {
  let browser: Browser
  const films: Film[] = []
  before(async () => {
    browser = await launchBrowser()
    if (isFilming) await clearFrames()
  })
  after(async () => {
    await browser?.close()
    if (isFilming && films.length === 3) await writeFilm(films)
  })

  /** A service on its embedded PostgreSQL that was never used, and a page at the link that it prints. */
  const firstStart = async (t: Parameters<typeof prepareStage>[0]) => {
    const stage = await prepareStage(t)
    const { url } = await stage.serve()
    const path = await ownerLink(await stage.databaseUrl(), url)
    const opened = await openPage(browser, url, { look })
    opened.page.setDefaultTimeout(30_000)
    t.after(() => opened.close())
    await opened.page.goto(path)
    return opened.page
  }
  const setPassword = async ({ page, type, click, frame }: Actor) => {
    await type(page.getByRole('textbox', { name: 'E-mail address' }), 'ada@example.com')
    await type(page.getByRole('textbox', { name: 'Your name' }), 'Ada Lopez')
    await type(page.locator('input[autocomplete="new-password"]'), 'a sentence of its own kind')
    await frame('Open the printed link and set a password', page.locator('input[autocomplete="new-password"]'))
    await click(page.getByRole('button', { name: 'Set the password and sign in' }))
    await frame('Choose a way to start', page.getByRole('button', { name: 'Move sample data' }))
  }
  const isMoved = (page: Page) =>
    page
      .getByText(/^(Succeeded|Some rows rejected|Partial)$/i)
      .filter({ visible: true })
      .first()
  const assertClicks = (made: Film) => {
    films.push(made)
    assert(made.clicks <= made.clicksMax, `${made.clicks} clicks: ${made.frames.map(({ caption }) => caption)}`)
  }

  test('sample data: at most 3 clicks to rows in a table, and removed again', async (t) => {
    const page = await firstStart(t)
    const about = 'Invented people from a file that comes with Penstock, into a table of the embedded PostgreSQL.'
    const made = await film(page, { name: 'sample', title: 'Sample data', about, clicksMax: 3 }, async (actor) => {
      await setPassword(actor)
      await actor.click(page.getByRole('button', { name: 'Move sample data' }))
      await page.getByRole('heading', { level: 1, name: '1,985 people are in the table people' }).waitFor()
      await page.getByRole('region', { name: 'The first rows of the table people' }).getByText('1957-06-12').waitFor()
      await actor.frame(
        'The rows are in the table; each rejected row says why',
        page.getByRole('region', { name: 'Why rows were rejected' }).getByText('is not a valid date').first(),
      )
    })
    assertClicks(made)
    await page.getByRole('button', { name: 'Remove the sample' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the sample' }).click()
    await page.getByRole('button', { name: 'Move sample data' }).waitFor()
  })

  test('a file of one’s own into PostgreSQL: at most 12 clicks', async (t) => {
    const target = await createTestDatabase()
    t.after(() => target.drop())
    const secrets = postgresqlSecrets(target.url)
    const page = await firstStart(t)
    const about =
      'A CSV file into a PostgreSQL on the same machine. The table gets the name of the file and is created by the first transfer.'
    const made = await film(
      page,
      { name: 'file', title: 'Your file to PostgreSQL', about, clicksMax: 12 },
      async (actor) => {
        const { click, type, choose, frame } = actor
        await setPassword(actor)
        await choose(page.getByRole('button', { name: 'Choose a file' }), { name: 'Kunden 2026.csv', text: customers })
        await frame('Choose PostgreSQL as the destination', page.getByRole('button', { name: /^PostgreSQL/ }))
        await click(page.getByRole('button', { name: /^PostgreSQL/ }))
        await frame('The table has the name of the file', page.getByRole('button', { name: 'Configure PostgreSQL' }))
        await click(page.getByRole('button', { name: 'Configure PostgreSQL' }))
        const form = page.getByRole('dialog')
        for (const [label, key] of [
          ['Host', 'host'],
          ['Port', 'port'],
          ['Database', 'database'],
          ['User', 'user'],
          ['Password', 'password'],
        ] as const) {
          await type(form.getByLabel(new RegExp(`^${label}`)).first(), String(secrets[key]))
        }
        await frame('Enter where the database is', form.getByLabel(/^Password/).first())
        await click(form.getByRole('button', { name: 'Save', exact: true }))
        await form.waitFor({ state: 'detached' })
        await click(page.getByRole('button', { name: 'Create the connection' }))
        await frame(
          'See how the columns are mapped',
          page.getByText('200 would be sent').or(page.getByText('100 would be sent')),
        )
        await click(page.getByRole('button', { name: 'Continue to review' }))
        await frame('Review', page.getByRole('button', { name: 'Activate and run' }))
        await click(page.getByRole('button', { name: 'Activate and run' }))
        await frame('The rows have arrived', isMoved(page))
      },
    )
    const pool = new pg.Client({ connectionString: target.url })
    await pool.connect()
    const { rows } = await pool.query('select count(*)::int as n from kunden_2026')
    await pool.end()
    assert.equal(rows[0].n, 200)
    assertClicks(made)
  })

  test('sixty awkward columns into an audience of Meta: at most 14 clicks', async (t) => {
    const meta = await startMeta()
    t.after(() => meta.close())
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const runners = createInProcessRunners(
      { localFolders: [], loadConnector },
      { 'https://graph.facebook.com': meta.url },
    )
    const service = await startTestService({ PENSTOCK_PUBLIC_URL: url, PENSTOCK_RETRY_SECONDS: '0' }, {}, runners)
    t.after(() => service.close())
    await service.service.app.listen({ host: '127.0.0.1', port })
    const { config, databaseUrl, logLines } = service
    assert(config.masterKey)
    const log = createLogger('warn', { write: (line) => void logLines.push(line) })
    const worker = await startWorker(config, { databaseUrl, masterKey: config.masterKey, runners }, log)
    t.after(() => worker.stop())
    const organization = await service.addOrganization()
    const opened = await openPage(browser, url, { look })
    t.after(() => opened.close())
    const { page } = opened
    page.setDefaultTimeout(30_000)
    const about =
      'A CSV file with sixty columns, as a shop exports them, into a custom audience. Meta is a test server here, so this way begins with client credentials.'
    const made = await film(
      page,
      { name: 'audience', title: 'Sixty columns to Meta', about, clicksMax: 14 },
      async (actor) => {
        const { click, type, choose, frame } = actor
        await page.goto('/start')
        // As many clicks as setting a password with the printed link takes.
        await signIn(page, organization)
        actor.count(1)
        await choose(page.getByRole('button', { name: 'Choose a file' }), { name: 'kunden.csv', text: csvOf(awkward) })
        const audiences = page.getByRole('button', { name: /^Meta Custom Audiences/ })
        await frame('Choose the destination', audiences)
        await click(audiences)
        await click(page.getByRole('button', { name: 'Configure Meta Custom Audiences' }))
        const form = page.getByRole('dialog')
        await type(form.getByLabel(/^App ID/).first(), metaSecrets.clientId)
        await type(form.getByLabel(/^App secret/).first(), metaSecrets.clientSecret)
        await type(form.getByLabel(/^Access token/).first(), metaSecrets.accessToken)
        await frame('Enter the credentials', form.getByLabel(/^Access token/).first())
        await click(form.getByRole('button', { name: 'Save', exact: true }))
        await form.waitFor({ state: 'detached' })
        await click(page.getByRole('combobox', { name: 'Ad account ID' }))
        const account = page.getByRole('option').filter({ hasText: 'Account 900' })
        await frame('Pick the ad account from the list of Meta', account)
        await click(account)
        await click(page.getByRole('button', { name: 'Create the connection' }))
        const email = page.locator('[data-mapper-row=email_sha256]')
        await frame('The columns are matched', email.getByText('matched by name'))
        await click(page.getByRole('radio', { name: 'A new audience' }))
        await click(page.getByRole('button', { name: 'Save and continue' }))
        await frame('Review', page.getByRole('button', { name: 'Activate and run' }))
        await click(page.getByRole('button', { name: 'Activate and run' }))
        await frame('The people are in the audience', isMoved(page))
      },
    )
    assert.equal(meta.audiences.length, 1)
    assert((meta.audiences[0]?.members.size ?? 0) > 0)
    assertClicks(made)
  })
})
