import assert from 'node:assert/strict'
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Connection } from '@penstock/wire'
import type { Locator, Page } from 'playwright-core'
import { accessibilityViolations, type Look, setLook, skip } from './harness/browser.ts'
import { type ConsoleStage, localFolder, postgresql, preparePeople, startConsole } from './harness/console.ts'
import { until } from './harness/until.ts'

/**
 * The cure is where the problem is shown, for one connection and for all that have the same cause. Clicks are counted. PENSTOCK_PICTURES names a folder for pictures.
 */

const album = process.env.PENSTOCK_PICTURES
const looks: readonly Look[] = [
  { width: 1440, height: 900, theme: 'light' },
  { width: 1440, height: 900, theme: 'dark' },
  { width: 390, height: 844, theme: 'light' },
  { width: 390, height: 844, theme: 'dark' },
]

describe('when something is wrong', { skip }, () => {
  let stage: ConsoleStage
  let accountId: string
  let clicks = 0
  before(async () => {
    stage = await startConsole()
    await preparePeople(stage, 20)
    if (album) await mkdir(album, { recursive: true })
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const pathOf = ({ id }: Pick<Connection, 'id'>) => `/accounts/${accountId}/connections/${id}`
  const click = async (target: Locator) => {
    clicks += 1
    await target.click()
  }
  const latest = async (id: string) =>
    (await stage.client.listTransfers({ accountId, id, query: { size: 1 } })).reply[0]
  const succeeds = (id: string) =>
    until('it moves rows again', async () => ['succeeded', 'partial'].includes((await latest(id))?.status ?? ''))
  const createTable = (table: string) =>
    stage.target.query(`create table ${table} (id integer primary key, name text, email text not null)`)
  const setPassword = (password: string) =>
    stage.client.configureConnector({
      accountId,
      id: postgresql.id,
      body: { secretConfig: { ...stage.targetSecrets, password } },
    })
  /** Looks at a page in each size and theme. */
  async function inspect(page: Page, name: string) {
    for (const look of looks) {
      await setLook(page, look)
      assert.deepEqual(await accessibilityViolations(page), [], `${name} ${look.width} ${look.theme}`)
      const overflow = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      const busy = await page.locator('[aria-busy=true]').count()
      assert.deepEqual([overflow, busy], [0, 0], `${name} ${look.width}`)
      if (album) {
        await page.screenshot({ path: join(album, `${name}-${look.width}-${look.theme}.png`), fullPage: true })
      }
    }
    await setLook(page, looks[0] as Look)
  }

  test('changed columns are accepted group by group, with undo, and move on by one click', async () => {
    accountId = (await stage.addAccount('Changed')).id
    await stage.addSides(accountId)
    await stage.target.query(
      `create table visitors (id int primary key, phone text, city text); insert into visitors values (1, '1', 'Bonn');
       create table copies (id int, phone text, city text)`,
    )
    const { reply: connection } = await stage.client.createConnection({
      accountId,
      body: {
        name: 'Visitors: Shop → Warehouse',
        srcConnectorId: postgresql.id,
        destConnectorId: postgresql.id,
        srcConnectionConfig: { table: 'visitors' },
        destConnectionConfig: {
          table: 'copies',
          writeMode: 'Insert',
          mapping: JSON.stringify({ id: 'id', city: 'city', phone: 'phone' }),
        },
      },
    })
    const of = { accountId, id: connection.id }
    await stage.client.updateConnectionStatus({ ...of, body: { action: 'activate' } })
    await stage.client.setDrift({ ...of, body: { drift: 'stop' } })
    assert.equal((await stage.run(accountId, connection.id)).status, 'succeeded')
    await stage.target.query(
      `alter table visitors rename column phone to phone_number; alter table visitors drop column city;
       alter table visitors add column newsletter boolean default true, add column tier text default 'gold'`,
    )
    assert.equal((await stage.run(accountId, connection.id)).error?.code, 'columns_changed')
    const page = await stage.open(pathOf(connection))
    const banner = page.getByRole('alert').filter({ hasText: 'columns of visitors changed' })
    await banner.waitFor()
    await page.getByText('After your decision').waitFor()
    await banner.getByText(/^No longer sent\. Correct expressions that read/).waitFor()
    await banner.getByRole('button', { name: 'Stop sending city' }).click()
    await banner.getByRole('button', { name: /^Undo: Removed 1/ }).click()
    await banner.getByRole('button', { name: 'Stop sending city' }).waitFor()
    await inspect(page, 'columns-changed')
    clicks = 0
    await click(banner.getByRole('button', { name: 'Accept all and run' }))
    await succeeds(connection.id)
    assert(clicks <= 3, `${clicks} clicks`)
    await banner.waitFor({ state: 'detached' })
    const { rows } = await stage.target.query('select * from copies order by tier nulls first')
    assert.deepEqual(rows.at(-1), { id: 1, city: null, phone: '1', newsletter: true, tier: 'gold' })
  })

  test('a refused password is replaced where it was refused, and the page leads on to what else it stopped', async () => {
    accountId = (await stage.addAccount('Refused')).id
    await stage.addSides(accountId)
    for (const table of ['customers', 'orders']) await createTable(table)
    const first = await stage.connect(accountId, 'Customers', { table: 'customers' })
    const second = await stage.connect(accountId, 'Orders', { table: 'orders' })
    await setPassword('wrong')
    const password = String(stage.targetSecrets.password)
    const role = String(stage.targetSecrets.user)
    await breakBy(first, second)
    const page = await stage.open(pathOf(first))
    const banner = page.getByRole('alert').filter({ hasText: 'The latest transfer failed' })
    const field = banner.getByLabel(new RegExp(`^Password of ${role} at `))
    await field.waitFor()
    await page.getByText('After new credentials').waitFor()
    await inspect(page, 'password-refused')
    clicks = 0
    await click(field)
    await field.fill(password)
    await click(banner.getByRole('button', { name: 'Save and run' }))
    await succeeds(first.id)
    const next = page.getByRole('status').filter({ hasText: '1 connection was stopped by this. Activate it.' })
    await next.getByRole('checkbox', { name: 'Orders' }).waitFor()
    await inspect(page, 'password-cured')
    await click(next.getByRole('button', { name: 'Activate and run' }))
    await succeeds(second.id)
    assert(clicks <= 5, `${clicks} clicks`)
    await next.waitFor({ state: 'detached' })
  })

  test('a refused password is shown at its side on every screen, and a check of the other side does not come back', async () => {
    accountId = (await stage.addAccount('One side')).id
    await stage.addSides(accountId)
    await createTable('one_side')
    const folder = join(stage.folder, 'later')
    await stage.client.configureConnector({ accountId, id: localFolder.id, body: { secretConfig: { folder } } })
    const connection = await stage.connect(accountId, 'One side', { table: 'one_side' })
    const connectors = `/accounts/${accountId}/connectors`
    const page = await stage.open(`${connectors}?check=${localFolder.id}`)
    await page.getByRole('dialog').getByText('Check failed').waitFor()
    await mkdir(folder)
    await copyFile(join(stage.folder, 'people.csv'), join(folder, 'people.csv'))
    await stage.run(accountId, connection.id)
    await setPassword('wrong')
    await breakBy(connection)
    const open = (at: string) => page.goto(`${new URL(page.url()).origin}${at}`)
    await open(pathOf(connection))
    await page
      .getByText('Rows go from Local folder (works) to PostgreSQL (check failed)')
      .waitFor({ state: 'attached' })
    await open(connectors)
    const pill = (connector: string, state: string) =>
      page.getByRole('row').filter({ hasText: connector }).getByText(state).filter({ visible: true }).waitFor()
    await pill('PostgreSQL', 'Check failed')
    await pill('Local folder', 'Works')
    await open(`/accounts/${accountId}`)
    await page.getByText('1 check failed').waitFor()
    await setPassword(String(stage.targetSecrets.password))
    await page.reload()
    await page.getByText('All configured').waitFor()
  })

  test('eight connections with one refused password are one problem, in the list and in the overview', async () => {
    accountId = (await stage.addAccount('Eight')).id
    await stage.addSides(accountId)
    const eight: Connection[] = []
    for (let n = 1; n <= 8; n += 1) {
      await createTable(`feed_${n}`)
      eight.push(await stage.connect(accountId, `Feed ${n}`, { table: `feed_${n}` }))
    }
    const other = await stage.connect(accountId, 'No such file', { file: 'gone.csv' })
    await stage.run(accountId, other.id)
    await setPassword('wrong')
    await breakBy(...eight)
    const page = await stage.open(`/accounts/${accountId}`)
    const overview = page.getByRole('region', { name: 'Needs attention' })
    await overview.getByText('PostgreSQL refused the credentials').waitFor()
    await inspect(page, 'overview-grouped')
    await overview.getByRole('link', { name: 'Show all 9' }).click()
    await page.waitForURL('**/connections?last=failing')
    const group = page.getByRole('region', { name: 'PostgreSQL refused the credentials' })
    await group.getByText('Feed 8').waitFor()
    await page.getByRole('region', { name: 'Other causes' }).getByText('No such file').waitFor()
    await inspect(page, 'failing-by-cause')
    await page.getByRole('searchbox').fill('feed 3')
    await page.waitForURL('**?last=failing&q=feed+3')
    await page.getByText('1 connection in 1 group').waitFor()
    await page.getByRole('link', { name: 'Feed 3' }).click()
    // Before that, the only such link is in the navigation.
    await page.getByRole('heading', { level: 1, name: 'Feed 3' }).waitFor()
    await page.getByRole('link', { name: 'Connections', exact: true }).last().click()
    await page.waitForURL('**?last=failing&q=feed+3')
    await page.getByRole('searchbox').fill('')
    await group.getByText('Feed 8').waitFor()
    clicks = 0
    const field = group.getByLabel(/^Password of /)
    await click(field)
    await field.fill(String(stage.targetSecrets.password))
    await click(group.getByRole('button', { name: 'Save and run 8 connections' }))
    for (const { id } of eight) await succeeds(id)
    assert(clicks <= 3, `${clicks} clicks`)
    await group.waitFor({ state: 'detached' })
  })

  /** Leaves connections as a refused password does: broken, with a transfer that says why. */
  async function breakBy(...connections: readonly Connection[]) {
    for (const { id } of connections) {
      const { id: transferId } = await stage.run(accountId, id)
      await stage.sql(
        `update transfers set status = 'failed', error_code = 'invalid_credentials', error_side = 'Destination',
           error_message = 'The server denied access: wrong password.', finished_time = now()
         where id = '${transferId}'`,
      )
      await stage.sql(`update connections set status = 'broken', previous_status = null where id = '${id}'`)
    }
  }
})
