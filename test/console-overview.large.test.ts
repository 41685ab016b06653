import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, localFolder, postgresql, preparePeople, startConsole } from './harness/console.ts'
import { connectorBySlug } from './harness/fixtures.ts'

/** The overviews: important numbers, and what needs attention. The tests build on each other's organization. */

const meta = connectorBySlug('meta-custom-audiences')

describe('the overview', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    // Calls to an unreachable service fail immediately.
    stage = await startConsole({ PENSTOCK_RETRY_SECONDS: '0' })
    await preparePeople(stage, 20)
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  test('of an organization that has nothing leads to the first record in three steps', async () => {
    const page = await stage.open('/')
    const start = page.getByRole('region', { name: 'Start here' })
    await start.getByRole('heading', { name: 'Create a connection' }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await start.getByRole('link', { name: 'Add a sub-account' }).click()
    await page.waitForURL('**/accounts')
  })

  test('of a sub-account that has nothing says which step is next, and which is done', async () => {
    const { id } = await stage.addAccount('Newcomer')
    const page = await stage.open('/accounts')
    // Buttons that could move are not shown until the content of the sub-account is known.
    const counted = Promise.withResolvers<void>()
    await page.route(/\/connections\?.*status=deleted/, async (route) => {
      await counted.promise
      await route.continue()
    })
    await page.getByRole('link', { name: 'Newcomer' }).click()
    await page.getByRole('heading', { level: 1, name: 'Newcomer' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'New connection' }).count(), 0)
    counted.resolve()
    const start = page.getByRole('region', { name: 'Start here' })
    await start.getByRole('link', { name: 'Open the catalogue' }).waitFor()
    await stage.addSides(id)
    await page.reload()
    await start.getByRole('img', { name: 'Step 2: Done' }).waitFor()
    await start.getByRole('link', { name: 'New connection' }).click()
    await page.waitForURL(`**/accounts/${id}/connections/new`)
  })

  test('counts connections by status, with the way to each, and what was moved by day', async () => {
    const { id } = await stage.addAccount('Counted')
    await stage.addSides(id)
    const connection = await stage.connect(id, 'Moves records')
    await stage.connect(id, 'Waits', { activate: false })
    await stage.run(id, connection.id)
    const page = await stage.open(`/accounts/${id}`)
    await page.getByRole('img', { name: 'Records by day or month: 18 accepted, 2 rejected in total' }).waitFor()
    await page.locator('.recharts-surface').first().waitFor()
    await page.getByText('10% of the records read').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('link', { name: 'Draft', exact: true }).click()
    await page.waitForURL(`**/accounts/${id}/connections?status=In-progress`)
    await page.getByRole('link', { name: 'Waits' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Moves records' }).count(), 0)
  })

  test('names what needs attention, each with the one thing to do', async () => {
    const { id } = await stage.addAccount('With errors')
    await stage.addSides(id)
    const partial = await stage.connect(id, 'Rejects some')
    const run = await stage.run(id, partial.id)
    const failing = await stage.connect(id, 'Finds no file', { file: 'missing.csv', activate: false })
    const broken = await stage.connect(id, 'Is refused')
    const misnamed = await stage.connect(id, 'Names no table', { table: 'not_there' })
    assert.equal((await stage.run(id, misnamed.id)).status, 'failed')
    await stage.client.addConnectors({ accountId: id, body: { connectorIds: [meta.id] } })
    await stage.client.createConnection({
      accountId: id,
      body: { name: 'Is not finished', srcConnectorId: localFolder.id, destConnectorId: meta.id },
    })
    await configure(id, { password: 'wrong' })
    assert.equal((await stage.run(id, broken.id)).status, 'failed')

    const page = await stage.open(`/accounts/${id}`)
    await concern(page, 'Is refused').getByText('Broken', { exact: true }).waitFor()
    await toDo(page, 'Is refused', 'Check PostgreSQL', `/accounts/${id}/connectors?configure=${postgresql.id}`)
    const settings = `/accounts/${id}/connections/new?connection=${misnamed.id}&step=settings`
    await toDo(page, 'Names no table', 'Change the settings', settings)
    await toDo(
      page,
      'Rejects some',
      'View rejected records',
      `/accounts/${id}/connections/${partial.id}/transfers/${run.id}`,
    )
    await concern(page, 'Rejects some').getByText('2 of 20 records were rejected').waitFor()
    const configureMeta = `/accounts/${id}/connectors?configure=${meta.id}`
    await toDo(page, 'Is not finished', `Configure ${meta.name}`, configureMeta)
    assert.equal(await concern(page, failing.name).count(), 0, 'what merely waits needs no attention')
    assert.deepEqual(await accessibilityViolations(page), [])

    await stage.client.deleteConnection({ accountId: id, id: partial.id })
    await page.reload()
    await concern(page, 'Is refused').waitFor()
    assert.equal(await concern(page, 'Rejects some').count(), 0, 'what is deleted is over')

    const wide = await stage.open('/', { look: { width: 390, height: 844, theme: 'dark' } })
    await concern(wide, 'Is refused').getByText('in With errors').filter({ visible: true }).waitFor()
    assert.deepEqual(await accessibilityViolations(wide), [])
    assert(await fits(wide))
  })

  test('calls offline what cannot be reached, and says that it is tried again', async () => {
    const { id } = await stage.addAccount('Cut off')
    await stage.addSides(id)
    const connection = await stage.connect(id, 'Cannot get through')
    await configure(id, { port: 1, password: stage.targetSecrets.password ?? '' })
    await stage.run(id, connection.id)
    const page = await stage.open(`/accounts/${id}`)
    await concern(page, 'Cannot get through').getByText('Offline', { exact: true }).waitFor()
    await page.getByRole('link', { name: /Check PostgreSQL: Cannot get through/ }).waitFor()
  })

  test('says so where nothing needs attention, and where the sub-account is not there', async () => {
    const { id } = await stage.addAccount('Calm')
    await stage.addSides(id)
    await stage.connect(id, 'Rests')
    const page = await stage.open(`/accounts/${id}`)
    await page.getByText('Nothing needs attention').waitFor()
    await page.goto('/accounts/0123456789abcdef')
    await page.getByRole('alert').first().getByText('Request').waitFor()
  })

  const configure = (accountId: string, secretConfig: Record<string, string | number>) =>
    stage.client.configureConnector({ accountId, id: postgresql.id, body: { secretConfig } })
})

const concern = (page: Page, name: string): Locator =>
  page
    .getByRole('region', { name: 'Needs attention' })
    .getByRole('listitem')
    .filter({ has: page.getByRole('link', { name, exact: true }) })

async function toDo(page: Page, name: string, action: string, path: string): Promise<void> {
  const link = concern(page, name).getByRole('link', { name: `${action}: ${name}` })
  await link.waitFor()
  assert.equal(await link.getAttribute('href'), path)
}

const fits = (page: Page) => page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth')
