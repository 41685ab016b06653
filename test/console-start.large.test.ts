import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, pickValue, postgresql, seeSentColumns, signIn, startConsole } from './harness/console.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { until } from './harness/until.ts'

/** “Move your first rows”: from the first sign-in to rows, with sample people, a file, or a platform. */

const fileUpload = connectorBySlug('file-upload')
const looks = [
  { width: 1440, height: 900, theme: 'light' },
  { width: 1440, height: 900, theme: 'dark' },
  { width: 390, height: 844, theme: 'light' },
  { width: 390, height: 844, theme: 'dark' },
] as const

describe('the first rows, in the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole({ PENSTOCK_UPLOAD_MB: '1' })
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const title = (page: Page) => page.getByRole('heading', { level: 1, name: 'Move your first rows' })
  const csv = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
  const choose = (page: Page, file: Parameters<ReturnType<Page['locator']>['setInputFiles']>[0]) =>
    page.locator('input[type=file]').setInputFiles(file)
  /** The wizard, at its second step with the uploaded file as its source. */
  const atDestination = (page: Page) => page.getByText('destination for the data of Uploaded file').waitFor()

  test('without a sub-account: one click adds it, uploads sample people and opens the wizard', async () => {
    const page = await stage.open('/', { signedIn: false })
    await signIn(page, stage.credentials)
    await page.getByRole('link', { name: 'Move your first rows' }).click()
    await title(page).waitFor()
    await page.getByText('A sub-account “First steps” is added for it').waitFor()
    await page.getByRole('button', { name: 'Use sample people' }).click()
    await atDestination(page)
    const accountId = new URL(page.url()).pathname.split('/')[2] ?? ''
    const { reply: uploads } = await stage.client.listUploads({ accountId })
    assert.deepEqual(
      uploads.map(({ name }) => name),
      ['sample-people.csv'],
    )

    // From there to rows in a table: 15 people are faulty, and each is accounted for.
    await stage.target.query(
      'create table a_sample (id integer primary key, email text, given_name text, family_name text, city text, country text, born date)',
    )
    await page.getByRole('button', { name: /^PostgreSQL/ }).click()
    await page.getByRole('button', { name: 'Configure PostgreSQL' }).waitFor()
    await stage.client.configureConnector({
      accountId,
      id: postgresql.id,
      body: { secretConfig: stage.targetSecrets },
    })
    await page.reload()
    await page.getByRole('button', { name: 'Change the configuration of PostgreSQL' }).waitFor()
    assert.equal(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'sample-people')
    await pickValue(page.getByRole('region', { name: 'Destination' }), 'Table', 'a_sample')
    await page.getByText('The file is read once. Another transfer would add all of its rows again.').waitFor()
    assert.equal(await page.getByText('Every transfer adds').count(), 0, 'no warning')
    await page.getByRole('button', { name: 'Create the connection' }).click()
    await seeSentColumns(page, ['id', 'email', 'given_name', 'family_name', 'city', 'country', 'born'])
    await page.getByRole('button', { name: 'Continue to review' }).click()
    await page.getByRole('button', { name: 'Activate and run' }).click()
    await page.waitForURL(/\/connections\/[^/?]+$/)
    const rows = async () => Number((await stage.target.query('select count(*) as n from a_sample')).rows[0].n)
    await until('the people are there', async () => (await rows()) === 1_985)
    const connectionId = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    const transfer = await until('the transfer has ended', async () => {
      const { reply } = await stage.client.listTransfers({ accountId, id: connectionId })
      return reply[0]?.finishedTime === null ? undefined : reply[0]
    })
    assert.deepEqual(transfer.records, { read: 2_000, sent: 2_000, accepted: 1_985, rejected: 15 })
  })

  test('opens after the first sign-in of an owner whose organization has no connection', async () => {
    const first = await startConsole()
    try {
      const page = await first.open(await first.firstLink(), { signedIn: false })
      await page.getByRole('textbox', { name: 'E-mail address' }).fill('ada@example.com')
      await page.getByRole('textbox', { name: 'Your name' }).fill('Ada Lopez')
      await page.locator('input[autocomplete="new-password"]').fill('a sentence of its own kind')
      await page.getByRole('button', { name: 'Set the password and sign in' }).click()
      await title(page).waitFor()
      // A person's session is a cookie, and their requests need the token against forgery. The sub-account exists before the
      // file does. Until then the page shows the upload, and begins nothing else.
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route('**/uploads?*', async (route) => {
        await held
        await route.continue()
      })
      await choose(page, csv('customers.csv', 'email\nada@example.com\n'))
      const platform = page.getByRole('button', { name: 'PostgreSQL', exact: true })
      await platform.waitFor()
      assert.equal(await platform.isDisabled(), true)
      await page.getByText('customers.csv').waitFor()
      release()
      await atDestination(page)
    } finally {
      await first.close()
    }
  })

  test('a file is chosen or dropped, and is the source of the wizard', async () => {
    const { id: accountId } = await stage.addAccount('Files')
    for (const [name, place] of [
      ['customers.csv', choose],
      ['dropped.csv', drop],
    ] as const) {
      const page = await stage.open(`/accounts/${accountId}/start`)
      await title(page).waitFor()
      await place(page, csv(name, 'email\nada@example.com\n'))
      await atDestination(page)
      assert.equal(new URL(page.url()).searchParams.get('source'), fileUpload.id)
      await page.getByText(`${name} was uploaded`).waitFor()
    }
    const page = await stage.open(`/accounts/${accountId}/start`)
    const files = page.getByRole('region', { name: 'Uploaded files', exact: true })
    await files.getByText('customers.csv').first().waitFor()
    await files.getByRole('button', { name: 'Delete customers.csv' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await files.getByRole('button', { name: 'Delete customers.csv' }).waitFor({ state: 'detached' })
    await files.getByRole('button', { name: 'Use dropped.csv' }).click()
    await atDestination(page)
    const { reply } = await stage.client.listUploads({ accountId })
    assert.deepEqual(
      reply.map(({ name }) => name),
      ['dropped.csv'],
    )
  })

  test('a file that is refused says why, and another one can be chosen', async () => {
    const { id: accountId } = await stage.addAccount('Refused')
    const page = await stage.open(`/accounts/${accountId}/start`)
    await title(page).waitFor()
    await choose(page, csv('large.csv', 'x'.repeat(1024 ** 2 + 1)))
    await page.getByRole('alert').getByText('the most for one file').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await choose(page, csv('empty.csv', ''))
    await page.getByRole('alert').getByText('is empty').waitFor()
    await choose(page, csv('a\u202evsc.csv', 'email\nada@example.com\n'))
    await atDestination(page)
    const { reply } = await stage.client.listUploads({ accountId })
    assert.deepEqual(
      reply.map(({ name }) => name),
      ['a_vsc.csv'],
    )
  })

  test('a platform is picked or searched, by the keyboard alone', async () => {
    const { id: accountId } = await stage.addAccount('Platforms')
    const page = await stage.open(`/accounts/${accountId}/start`)
    await title(page).waitFor()
    await page.getByRole('searchbox', { name: 'Search sources' }).focus()
    await page.keyboard.type('snow')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/connections\/new\?/)
    assert.equal(await page.getByLabel('Search sources').inputValue(), 'snow')
    await page.goBack()
    await page.getByRole('button', { name: 'PostgreSQL' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('destination for the data of PostgreSQL').waitFor()
  })

  test('a person who may not create connections reads why', async () => {
    const { id: accountId } = await stage.addAccount('Viewed')
    const { reply: key } = await stage.client.createClient({
      body: {
        name: 'Viewer',
        scopes: ['accounts:read', 'connectors:read', 'connections:read'],
        accountIds: [accountId],
      },
    })
    const page = await stage.open('/start', { signedIn: false })
    await signIn(page, { clientId: key.id, clientSecret: key.clientSecret })
    await title(page).waitFor()
    const button = page.getByRole('button', { name: 'Use sample people' })
    await button.and(page.locator('[aria-disabled=true]')).waitFor()
    const why = page.locator(`[id="${await button.getAttribute('aria-describedby')}"]`)
    assert.match((await why.textContent()) ?? '', /cannot change connections/)
    await button.focus()
    await page.keyboard.press('Enter')
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual((await stage.client.listUploads({ accountId })).reply, [])
  })

  for (const look of looks) {
    test(`has no finding of axe and fits at ${look.width} px, ${look.theme}`, async () => {
      const { id: accountId } = await stage.addAccount(`Look ${look.width} ${look.theme}`)
      const body = new Blob(['email\nada@example.com\n'])
      await stage.client.createUpload({ accountId, query: { name: 'customers of the spring campaign.csv' }, body })
      const page = await stage.open(`/accounts/${accountId}/start`, { look })
      await page.getByRole('button', { name: 'Snowflake' }).waitFor()
      await page.getByText('customers of the spring').first().waitFor()
      assert.deepEqual(await accessibilityViolations(page), [])
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      assert(width <= look.width, `${width} px`)
      if (process.env.PENSTOCK_SCREENSHOTS) {
        await page.screenshot({ path: `/tmp/start-${look.width}-${look.theme}.png`, fullPage: true })
      }
    })
  }
})

/** Drops a file on the place for it, as the browser reports it. */
async function drop(page: Page, { name, buffer }: { name: string; buffer: Buffer }): Promise<void> {
  const transfer = await page.evaluateHandle(
    ({ name, text }) => {
      const all = globalThis as unknown as {
        DataTransfer: new () => { items: { add(file: object): void } }
        File: new (parts: string[], name: string) => object
      }
      const made = new all.DataTransfer()
      made.items.add(new all.File([text], name))
      return made
    },
    { name, text: buffer.toString() },
  )
  await page.getByText('Drop a file here').dispatchEvent('drop', { dataTransfer: transfer })
}
