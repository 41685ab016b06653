import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, setLook, skip } from './harness/browser.ts'
import {
  type ConsoleStage,
  enterValue,
  localFolder,
  postgresql,
  preparePeople,
  startConsole,
} from './harness/console.ts'
import { until } from './harness/until.ts'

/** Connections from one source to several destinations, created together: in the wizard, and on their pages. */

describe('the console creates connections to several destinations', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
    await preparePeople(stage, 30)
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const phone = { width: 390, height: 844, theme: 'light' } as const
  const wizard = (accountId: string, query: Record<string, string>) =>
    `/accounts/${accountId}/connections/new?${new URLSearchParams(query)}`
  const configuration = async (accountId: string, name: string, isComplete = true) => {
    const body = { name, ...(isComplete && { secretConfig: stage.targetSecrets }) }
    const { reply } = await stage.client.createConnectorConfiguration({ accountId, id: postgresql.id, body })
    return reply.configurationId
  }
  const listed = async (accountId: string) => (await stage.client.listConnections({ accountId })).reply
  const tagsOf = async (accountId: string) => (await stage.client.listConnectionTags({ accountId })).reply
  const rowsIn = async (table: string) => (await stage.target.query(`select from ${table}`)).rowCount
  const assertSound = async (page: Page, at: string) => {
    assert.deepEqual(await accessibilityViolations(page), [], at)
    const tooWide = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
    assert(tooWide <= 0, `${at} is ${tooWide} px wider than the screen`)
  }

  /** Presses a button by the keyboard, once it can be pressed. */
  const enter = (page: Page, name: string) => page.getByRole('button', { name, disabled: false }).press('Enter')

  test('two destinations by the keyboard: settings are copied, both run, and one schedule is set for both', async () => {
    await stage.target.query('create table people_backup (like people including all)')
    const { id: accountId } = await stage.addAccount('Two')
    await stage.addSides(accountId)
    await configuration(accountId, 'Backup')
    const page = await stage.open(wizard(accountId, { source: localFolder.id }))
    const several = page.getByRole('switch', { name: 'Several destinations' })
    await several.focus()
    await several.press('Space')
    for (const name of [/^PostgreSQL/, /^Backup/]) {
      const tile = page.getByRole('button', { name })
      await tile.focus()
      await tile.press('Enter')
      await page.getByRole('button', { name, pressed: true }).waitFor()
    }
    await page.getByRole('region', { name: 'Selected destinations' }).getByText('PostgreSQL, Backup').waitFor()
    await assertSound(page, 'the destinations')
    await enter(page, 'Continue with 2 destinations')

    await page.getByText('Destination 1 of 2: PostgreSQL').waitFor()
    await enterValue(page.getByRole('region', { name: /^Source: / }), 'Files', 'people.csv')
    await enterValue(page.getByRole('region', { name: /^Destination: / }), 'Table', 'people')
    await enter(page, 'Create the connection')
    await enter(page, 'Continue to next destination')

    await page.getByText('Destination 2 of 2: Backup').waitFor()
    await page.getByText('The settings of the source are copied from Local folder → PostgreSQL.').waitFor()
    const side = page.getByRole('region', { name: 'Destination: Backup' })
    assert.equal(await side.getByRole('combobox', { name: 'Table', exact: true }).textContent(), 'people')
    await enterValue(side, 'Table', 'people_backup')
    await assertSound(page, 'the second settings')
    await setLook(page, phone)
    await assertSound(page, 'the second settings on a phone')
    await enter(page, 'Create the connection')
    await enter(page, 'Continue to review')

    await page.getByRole('article', { name: 'Local folder → Backup' }).getByText('Draft').waitFor()
    assert.equal(await page.getByRole('article').count(), 2)
    await assertSound(page, 'the review on a phone')
    await enter(page, 'Activate all and run')
    await page.getByText('2 connections are active').waitFor()
    for (const table of ['people', 'people_backup']) {
      await until(`the rows are in ${table}`, async () => ((await rowsIn(table)) ?? 0) > 0)
    }
    assert.deepEqual(await tagsOf(accountId), [{ tag: 'Set: Local folder', connections: 2 }])
    const [backup, first] = await listed(accountId)
    assert.deepEqual([first?.name, backup?.name], ['Local folder → PostgreSQL', 'Local folder → Backup'])

    await page.goto(`/accounts/${accountId}/connections/${first?.id}`)
    const card = page.getByRole('region', { name: 'Other connections of Local folder' })
    await card.getByRole('link', { name: 'Local folder → Backup' }).waitFor()
    await card.getByText('Active').waitFor()
    await assertSound(page, 'the card on a phone')
    await enter(page, 'Actions for the set')
    await page.getByRole('menuitem', { name: 'Set one schedule' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Schedule of Local folder' })
    await dialog.getByText('Replaces the schedules of all 2 connections.').waitFor()
    await dialog.getByRole('button', { name: 'Save' }).press('Enter')
    await page.getByText('2 connections have the schedule').waitFor()
    for (const { id } of [first, backup].map((one) => ({ id: one?.id ?? '' }))) {
      assert.equal((await stage.client.getSchedule({ accountId, id })).reply.cron, '0 6 * * *')
    }

    await setLook(page, { width: 1440, height: 900, theme: 'dark' })
    await page.goto(`/accounts/${accountId}/connections`)
    const row = page.getByRole('row').filter({ hasText: 'Local folder → Backup' })
    await row.getByText('Backup (PostgreSQL)').waitFor()
    await assertSound(page, 'the list')
    // A rename, a deletion and a restoration do not change the set.
    const id = backup?.id ?? ''
    await stage.client.updateConnection({ accountId, id, body: { name: 'Renamed' } })
    await stage.client.deleteConnection({ accountId, id })
    await stage.client.restoreConnection({ accountId, id })
    await page.goto(`/accounts/${accountId}/connections/${first?.id}`)
    await card.getByRole('link', { name: 'Renamed' }).waitFor()
    await page.getByRole('button', { name: 'Actions for the set' }).click()
    await page.getByRole('menuitem', { name: 'Rename the set' }).click()
    const renaming = page.getByRole('dialog', { name: 'Rename the set' })
    await renaming.getByText('Changes the tag of all 2 connections.').waitFor()
    assert.equal(await renaming.getByRole('button', { name: 'Save' }).isDisabled(), true, 'it is the same name')
    await assertSound(page, 'the new name')
    await renaming.getByRole('textbox', { name: 'Name of the set' }).fill('Autumn, all')
    await renaming.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('region', { name: 'Other connections of Autumn all' }).waitFor()
    await page.getByRole('link', { name: 'Renamed' }).waitFor()
    assert.deepEqual(await tagsOf(accountId), [{ tag: 'Set: Autumn all', connections: 2 }])
  })

  test('a refused connection in the middle leaves the others, and the set goes on without it', async () => {
    const { id: accountId } = await stage.addAccount('Refused')
    await stage.addSides(accountId)
    for (const name of ['B', 'C']) {
      await configuration(accountId, name)
      await stage.target.query(`create table people_${name} (like people including all)`)
    }
    const page = await stage.open(wizard(accountId, { source: localFolder.id }))
    await page.getByRole('switch', { name: 'Several destinations' }).click()
    for (const name of [/^PostgreSQL/, /^B/, /^C/]) {
      await page.getByRole('region', { name: 'Added to this sub-account' }).getByRole('button', { name }).click()
    }
    await page.getByRole('button', { name: 'Continue with 3 destinations' }).click()
    const create = async (table: string) => {
      await enterValue(page.getByRole('region', { name: /^Destination: / }), 'Table', table)
      await page.getByRole('button', { name: 'Create the connection' }).click()
    }
    await enterValue(page.getByRole('region', { name: /^Source: / }), 'Files', 'people.csv')
    await create('people')
    await page.getByRole('button', { name: 'Continue to next destination' }).click()
    await page.getByText('Destination 2 of 3: B').waitFor()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill(' ')
    await create('people_b')
    await page.getByText('1 connection of this set is saved as a draft.').waitFor()
    assert.equal((await listed(accountId)).length, 1)
    await assertSound(page, 'a refusal')
    await page.getByRole('button', { name: 'Continue without B' }).click()
    await page.getByText('Destination 2 of 2: C').waitFor()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('To C')
    await create('people_c')
    await page.getByRole('button', { name: 'Continue to review' }).click()
    assert.deepEqual((await page.getByRole('article').getByRole('heading').allTextContents()).sort(), [
      'Local folder → PostgreSQL',
      'To C',
    ])
    // A reload keeps the set, and a link to the settings of one of them leads back to it.
    await page.reload()
    await page.getByRole('button', { name: 'Settings of To C' }).click()
    await page.getByText('Destination 2 of 2: C').waitFor()
    await page.getByRole('button', { name: 'PostgreSQL · Created' }).click()
    await page.getByText('Destination 1 of 2: PostgreSQL').waitFor()
  })

  test('of five connections, the third is refused: two stay active, and the others follow without it', async () => {
    const { id: accountId } = await stage.addAccount('Five')
    await stage.addSides(accountId)
    const set = 'Set: Local folder'
    const made: { id: string; configurationId: string }[] = []
    for (const n of [1, 2, 3, 4, 5]) {
      const table = `five_${n}`
      await stage.target.query(`create table ${table} (like people including all)`)
      // The third one has no address and no password.
      const configurationId = await configuration(accountId, `Target ${n}`, n !== 3)
      const { reply } = await stage.client.createConnection({
        accountId,
        body: {
          name: `To ${n}`,
          srcConnectorId: localFolder.id,
          destConnectorId: postgresql.id,
          destConfigurationId: configurationId,
          srcConnectionConfig: { files: 'people.csv' },
          destConnectionConfig: { table },
        },
      })
      await stage.client.setConnectionLabels({ accountId, id: reply.id, body: { tags: [set] } })
      made.push({ id: reply.id, configurationId })
    }
    const targets = made.map(({ id, configurationId }) => `${postgresql.id}~${configurationId}~${id}`).join(',')
    const query = { set, targets, connection: made[0]?.id ?? '', step: 'review' }
    const page = await stage.open(wizard(accountId, query))
    await page.getByRole('article', { name: 'To 3' }).getByText('is not configured in this sub-account').waitFor()
    await page.getByRole('button', { name: 'Activate all and run' }).click()
    const stopped = page.getByRole('alert').filter({ hasText: 'To 3 was not activated. 2 connections are active.' })
    await stopped.waitFor()
    await assertSound(page, 'where it stopped')
    await setLook(page, phone)
    await assertSound(page, 'where it stopped, on a phone')
    const statuses = async () => (await listed(accountId)).map(({ status }) => status).reverse()
    const draft = 'In-progress'
    assert.deepEqual(await statuses(), ['active', 'active', draft, draft, draft])
    await stopped.getByRole('button', { name: 'Try again' }).click()
    await stopped.waitFor()
    await stopped.getByRole('button', { name: 'Continue without To 3' }).click()
    await page.getByText('4 connections are active').waitFor()
    await page.getByRole('article', { name: 'To 3' }).getByText('Skipped').waitFor()
    assert.deepEqual(await statuses(), ['active', 'active', draft, 'active', 'active'])
    for (const n of [1, 2, 4, 5]) await until(`rows ${n}`, async () => ((await rowsIn(`five_${n}`)) ?? 0) > 0)
    await page.getByRole('link', { name: 'Show the connections' }).click()
    await page.waitForURL('**/connections?tags=**')
    await page.getByRole('link', { name: 'To 5' }).waitFor()
  })
})
