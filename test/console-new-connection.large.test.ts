import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { accessibilityViolations, pick, skip } from './harness/browser.ts'
import {
  type ConsoleStage,
  enterValue,
  findValue,
  localFolder,
  pickValue,
  postgresql,
  preparePeople,
  seeSentColumns,
  startConsole,
} from './harness/console.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { addsWithdrawn } from './harness/withdrawn.ts'

const audiences = connectorBySlug('meta-custom-audiences')
const fileUpload = connectorBySlug('file-upload')

describe('the wizard of new connections', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
    await preparePeople(stage, 30)
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const wizard = (accountId: string, query = '') => `/accounts/${accountId}/connections/new${query}`
  test('says why destinations are incompatible, and adds what is selected from the catalogue', async () => {
    const { id: accountId } = await stage.addAccount('Pairs')
    const page = await stage.open(wizard(accountId))
    await page.getByRole('region', { name: 'From the catalogue' }).waitFor()
    assert.equal(await page.getByRole('region', { name: 'Added to this sub-account' }).count(), 0)
    await page.getByRole('button', { name: /^HubSpot CRM/ }).click()
    await page.getByText('destination for the data of HubSpot CRM').waitFor()
    await page.getByRole('button', { name: /^Meta Custom Audiences/ }).waitFor()
    assert.equal(await page.getByRole('button', { name: /^Meta Conversions/ }).count(), 0)
    await page.getByRole('button', { name: /incompatible with this source/ }).click()
    const reasonsOf = (name: string) => page.getByRole('listitem').filter({ hasText: name })
    await reasonsOf('Meta Conversions').getByText('audience activation data cannot go to events').waitFor()
    await page.getByLabel('Search destinations').fill('google ads reporting')
    await reasonsOf('Google Ads Reporting').getByText('Google Ads Reporting cannot be a destination').waitFor()
    await page.getByText('No matching connectors').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    const { reply } = await stage.client.listAddedConnectors({ accountId })
    assert.deepEqual(
      reply.map(({ name }) => name),
      ['HubSpot CRM'],
    )
    await page.goto(wizard(accountId))
    await page.getByRole('region', { name: 'Added to this sub-account' }).getByText('Not configured').waitFor()
  })

  test('keeps what was typed when the user leaves half-way, and no secret', async () => {
    const { id: accountId } = await stage.addAccount('Half-way')
    await stage.client.addConnectors({ accountId, body: { connectorIds: [localFolder.id, postgresql.id] } })
    const page = await stage.open(wizard(accountId))
    await page.getByRole('button', { name: /^Local folder/ }).click()
    await page.getByRole('button', { name: /^PostgreSQL/ }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Typed name')
    await region(page, 'Source').getByRole('textbox', { name: 'Files' }).fill('typed.csv')
    await page.getByRole('button', { name: 'Configure PostgreSQL' }).click()
    await page.getByRole('dialog').locator('input[type=password]').first().fill('canary-typed-password')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()

    const isThere = async () => {
      await region(page, 'Source').getByRole('textbox', { name: 'Files' }).waitFor()
      assert.equal(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'Typed name')
      assert.equal(await region(page, 'Source').getByRole('textbox', { name: 'Files' }).inputValue(), 'typed.csv')
    }
    await page.reload()
    await isThere()
    await page.getByRole('link', { name: 'Back to connections' }).click()
    await page.waitForURL('**/connections')
    await page.goto(wizard(accountId))
    await page.getByText('You have an unfinished connection').waitFor()
    await page.getByText('“Typed name”: Local folder → PostgreSQL').waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await isThere()
    await page.goBack()
    assert(!(await page.evaluate(() => JSON.stringify(sessionStorage))).includes('canary-typed'))

    await page.goto(wizard(accountId))
    await page.getByRole('button', { name: 'Start over' }).click()
    await page.getByText('You have an unfinished connection').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Local folder/ }).click()
    await page.getByRole('button', { name: /^PostgreSQL/ }).click()
    assert.equal(await region(page, 'Source').getByRole('textbox', { name: 'Files' }).inputValue(), '')
  })

  test('picks the configurations of both sides, adds another one, and changes them later', async () => {
    const { id: accountId } = await stage.addAccount('Configurations')
    await stage.addSides(accountId)
    const { reply: archive } = await stage.client.createConnectorConfiguration({
      accountId,
      id: localFolder.id,
      body: { name: 'Archive', secretConfig: { folder: stage.folder } },
    })
    const page = await stage.open(wizard(accountId, `?source=${localFolder.id}&destination=${postgresql.id}`))
    const source = region(page, 'Source').getByRole('combobox', { name: 'Configuration of Local folder' })
    await pick(source, 'Archive')
    assert.equal(
      await region(page, 'Destination')
        .getByRole('combobox', { name: /^Configuration of/ })
        .count(),
      0,
    )
    await enterValue(region(page, 'Source'), 'Files', 'people.csv')
    await region(page, 'Destination').getByRole('button', { name: 'Add another configuration' }).click()
    const adding = page.getByRole('dialog', { name: 'Add a configuration of PostgreSQL' })
    await adding.getByLabel('Name').fill('Warehouse')
    await adding.getByRole('button', { name: 'Add configuration' }).click()
    // Its form opens.
    const form = page.getByRole('dialog', { name: 'Configure PostgreSQL · Warehouse' })
    await form.getByRole('button', { name: 'Cancel' }).click()
    await form.waitFor({ state: 'detached' })
    const destination = region(page, 'Destination').getByRole('combobox', { name: 'Configuration of PostgreSQL' })
    await destination.waitFor()
    assert.equal(await destination.inputValue(), 'Warehouse (not configured)')
    await region(page, 'Destination').getByRole('button', { name: 'Configure PostgreSQL' }).waitFor()
    await region(page, 'Destination').getByRole('textbox', { name: 'Table' }).fill('people')
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.equal(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'Archive → Warehouse')
    await page.getByRole('button', { name: 'Create the connection' }).click()
    await page.waitForURL('**step=mapping**')
    const id = new URL(page.url()).searchParams.get('connection') ?? ''
    const read = async () => (await stage.client.getConnection({ accountId, id })).reply
    const { reply: configurations } = await stage.client.listConnectorConfigurations({
      accountId,
      query: { connectorId: postgresql.id },
    })
    const [first, warehouse] = configurations.map(({ configurationId }) => configurationId)
    const made = await read()
    assert.deepEqual([made.srcConfigurationId, made.destConfigurationId], [archive.configurationId, warehouse])

    await page.goto(wizard(accountId, `?connection=${id}&step=settings`))
    await pick(destination, 'Default')
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await page.waitForURL('**step=mapping**')
    assert.equal((await read()).destConfigurationId, first)

    await page.goto(`/accounts/${accountId}/connections/${id}`)
    await page.getByRole('button', { name: 'More actions', exact: true }).click()
    await page.getByRole('menuitem', { name: /^Edit/ }).click()
    const edit = page.getByRole('dialog')
    await pick(edit.getByRole('combobox', { name: 'Configuration of Local folder' }), 'Default')
    await edit.getByRole('button', { name: 'Save' }).click()
    await edit.waitFor({ state: 'hidden' })
    const after = await read()
    assert.notEqual(after.srcConfigurationId, archive.configurationId)
    assert.equal(after.destConfigurationId, first)
  })

  test('lists what is missing before activation, each with a link to add it', async () => {
    const { id: accountId } = await stage.addAccount('Missing')
    await stage.client.addConnectors({ accountId, body: { connectorIds: [localFolder.id, postgresql.id] } })
    const body = { name: 'Bare', srcConnectorId: localFolder.id, destConnectorId: postgresql.id }
    const { reply } = await stage.client.createConnection({ accountId, body })
    const page = await stage.open(wizard(accountId, `?connection=${reply.id}&step=review`))
    const list = page.getByRole('alert').filter({ hasText: 'Complete this to activate' })
    await list.getByText('Local folder is not configured').waitFor()
    assert.equal(await list.getByRole('listitem').count(), 4)
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Activate', exact: true }).click()
    const refused = page.getByRole('alert').filter({ hasText: 'The connection was not activated' })
    await refused.getByText('Missing in the settings of the destination: Table.').waitFor()
    assert.equal(await refused.getByRole('listitem').count(), 4)

    await list.getByRole('link', { name: 'Configure Local folder' }).click()
    await page.waitForURL(`**/connectors?configure=${localFolder.id}&configuration=*`)
    await page.goBack()
    await list.getByRole('link', { name: 'Enter Files' }).click()
    await region(page, 'Source').getByRole('textbox', { name: 'Files' }).fill('people.csv')
    // The step stops at what it still needs.
    await page.getByRole('button', { name: 'Save and continue' }).click()
    const table = region(page, 'Destination').getByRole('textbox', { name: 'Table' })
    await table.and(page.locator('[aria-invalid=true]')).and(page.locator(':focus')).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await table.fill('people')
    await page.getByRole('button', { name: 'Save and continue' }).click()
    const early = page.getByRole('alert').filter({ hasText: 'Complete this to see a preview' })
    await early.getByText('Local folder is not configured').waitFor()
    assert.equal(await early.getByRole('listitem').count(), 2)
  })

  test('maps columns to the fields of a destination on real records, and says what the values are like', async () => {
    const { id: accountId } = await stage.addAccount('Audiences')
    await stage.addSides(accountId)
    await stage.client.addConnectors({ accountId, body: { connectorIds: [audiences.id] } })
    const secretConfig = { authType: 'api-token', accessToken: 'canary' }
    await stage.client.configureConnector({ accountId, id: audiences.id, body: { secretConfig } })
    await writeFile(
      join(stage.folder, 'crm.csv'),
      'Wer,Tel\nada@example.com,+49301234\n GRACE@EXAMPLE.COM ,\nnobody,\n,+493088888\n',
    )
    const { reply } = await stage.client.createConnection({
      accountId,
      body: {
        name: 'Audience',
        srcConnectorId: localFolder.id,
        destConnectorId: audiences.id,
        srcConnectionConfig: { files: 'crm.csv' },
        destConnectionConfig: { advertiserId: '1' },
      },
    })
    const page = await stage.open(wizard(accountId, `?connection=${reply.id}&step=mapping`))
    const email = page.locator('[data-mapper-row=email_sha256]')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await email.getByRole('combobox').click()
    await page.getByRole('option', { name: /^Wer ada@example.com/ }).click()
    await email.getByText('1 of 4 cannot be used').waitFor()
    await email.getByText('1 empty').waitFor()
    await email.getByText('1 will be standardised').waitFor()
    // A person is asked for the audience: nothing is preselected, and nothing is saved without an answer.
    const ways = page.getByRole('radiogroup', { name: 'Which audience?' })
    await page.getByText('Nothing is created unless you choose it.').waitFor()
    assert.equal(await ways.getByRole('radio', { checked: true }).count(), 0)
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await ways.getByRole('radio', { name: 'A new audience' }).and(page.locator(':focus')).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('step'), 'mapping')
    await page.keyboard.press('Space')
    await page.getByRole('button', { name: /^Preview (?:this mapping|again)$/ }).click()
    await page.getByText('1 would be rejected').waitFor()
    await page.locator('[data-mapper-row=phone_sha256]').getByText('matched by name').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await page.getByRole('region', { name: 'Mapping' }).getByText('Always “add”').waitFor()
    const { reply: saved } = await stage.client.getConnection({ accountId, id: reply.id })
    const mapping = JSON.parse(String(saved.destConnectionConfig.mapping))
    assert.deepEqual(
      [mapping.action, mapping.segment_name, mapping.email_sha256, mapping.phone_sha256, mapping.city_sha256],
      [{ value: 'add' }, null, 'Wer', 'Tel', null],
    )
    assert.equal(saved.destConnectionConfig.advertiserId, '1')
  })

  test('hashes and normalises columns where the destination takes any, and refuses names that are there twice', async () => {
    const { id: accountId } = await stage.addAccount('Columns')
    await stage.addSides(accountId)
    await stage.target.query('create table columned (id integer primary key, em text)')
    const { id } = await stage.connect(accountId, 'Columns', { activate: false, table: 'columned' })
    const page = await stage.open(wizard(accountId, `?connection=${id}&step=mapping`))
    await seeSentColumns(page, ['id', 'name', 'email'])
    // Records are never shown as sent while the transfer would fail.
    await page.getByText('0 of 30 would be sent: a transfer would fail').waitFor()
    assert.equal(await page.getByText(/^\d+ would be sent$/).count(), 0)
    await page.getByText('A transfer would fail', { exact: true }).waitFor()
    await page.getByText('The table columned has no column email; add what is missing').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByText('Selected columns').click()
    await page.getByRole('textbox', { name: 'Sent as, column 3' }).fill('name')
    await page.getByText('This name is already used').waitFor()
    assert(await page.getByRole('button', { name: 'Save and continue' }).isDisabled())
    await page.getByRole('textbox', { name: 'Sent as, column 3' }).fill('em')
    await page.getByRole('combobox', { name: 'Normalise em' }).click()
    const form = page.getByText('E-mail address', { exact: true })
    await page.getByRole('option').filter({ has: form }).click()
    await pick(page.getByRole('combobox', { name: 'Hash em' }), 'SHA-256')
    // Unsaved input survives a reload.
    await page.reload()
    await page.getByRole('textbox', { name: 'Sent as, column 3' }).waitFor()
    await page.getByRole('button', { name: 'Remove name' }).click()
    await page.getByRole('button', { name: 'Preview this mapping' }).click()
    await page.getByRole('columnheader', { name: 'em', exact: true }).waitFor()
    await page.getByText('A transfer would fail', { exact: true }).waitFor({ state: 'detached' })
    await page.getByText('30 would be sent', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await page.getByText('hashed with SHA-256').waitFor()
    const { reply } = await stage.client.getConnection({ accountId, id })
    assert.deepEqual(JSON.parse(String(reply.destConnectionConfig.mapping)), {
      id: 'id',
      em: { column: 'email', normalise: 'email', hash: 'sha256' },
    })
  })

  test('sends rows as a test with the mapping that is typed, once the connection is active', async () => {
    const { id: accountId } = await stage.addAccount('Tests')
    await stage.addSides(accountId)
    await stage.target.query('create table tries (id integer primary key, name text, email text)')
    const { id } = await stage.connect(accountId, 'Tests', { activate: false, table: 'tries' })
    const page = await stage.open(wizard(accountId, `?connection=${id}&step=mapping`))
    const send = page
      .getByRole('region', { name: 'Preview', exact: true })
      .getByRole('button', { name: 'Send rows as a test' })
    await send.waitFor()
    assert.equal(await send.getAttribute('aria-disabled'), 'true')
    await page.getByText('Data moves only while the connection is active.').waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Continue to review' }).click()
    await page.getByRole('button', { name: 'Activate', exact: true }).click()
    await page
      .getByRole('region', { name: 'Activation', exact: true })
      .getByRole('button', { name: 'Send rows as a test' })
      .click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Send 10 rows as a test' }).click()
    await dialog.getByText('The destination accepted all rows').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    assert.equal((await stage.target.query('select from tries where email is not null')).rowCount, 9)

    await stage.target.query('truncate tries')
    await page.goto(wizard(accountId, `?connection=${id}&step=mapping`))
    await page.getByText('Selected columns').click()
    await page.getByRole('button', { name: 'Remove email' }).click()
    await send.click()
    await dialog.getByRole('textbox', { name: 'Rows to send' }).fill('3')
    await dialog.getByRole('button', { name: 'Send 3 rows as a test' }).click()
    await dialog.getByText('The destination accepted all rows').waitFor()
    const { rows } = await stage.target.query('select * from tries order by id')
    assert.deepEqual(
      rows.map((row) => [row.id, row.email]),
      [
        [1, null],
        [2, null],
        [3, null],
      ],
    )
    const { reply } = await stage.client.getConnection({ accountId, id })
    assert.equal(reply.destConnectionConfig.mapping, undefined)
  })

  test('activates and runs with one button, leads to the progress, and keeps the way over reload and back', async () => {
    const { id: accountId } = await stage.addAccount('One way')
    await stage.addSides(accountId)
    await stage.target.query('create table one_way (id integer primary key, name text, email text)')
    const page = await stage.open(wizard(accountId))
    await page.getByRole('button', { name: /^Local folder/ }).click()
    await page.getByRole('button', { name: /^PostgreSQL/ }).click()
    await pickValue(region(page, 'Source'), 'Files', 'people.csv')
    await page.reload()
    await pickValue(region(page, 'Destination'), 'Table', 'one_way')
    await page.getByRole('button', { name: 'Create the connection' }).click()
    await page.getByText('30 would be sent').waitFor()
    await page.getByRole('button', { name: 'Continue to review' }).click()
    const run = page.getByRole('button', { name: 'Activate and run' })
    await run.waitFor()
    assert.equal(await page.getByRole('button', { name: 'Activate', exact: true }).count(), 1)
    await page.goBack()
    await page.getByRole('heading', { name: 'Map fields' }).waitFor()
    await page.goForward()
    await run.waitFor()
    await page.reload()
    await run.click()
    await page.waitForURL(/\/connections\/[^/?]+$/)
    await page.getByText('Table: one_way').first().waitFor()
    await page.getByText('Succeeded').filter({ visible: true }).first().waitFor()
    assert.equal((await stage.target.query('select from one_way')).rowCount, 30)
    await page.goBack()
    await page.getByRole('heading', { name: 'The connection is active' }).waitFor()
    await page.getByRole('button', { name: 'Run now' }).waitFor()
    await page.goto(wizard(accountId))
    await page.getByRole('region', { name: 'Added to this sub-account' }).waitFor()
    assert.equal(await page.getByText('You have an unfinished connection').count(), 0)
  })

  test('activates alone, and what keeps the first transfer from starting leaves the connection active', async () => {
    const { id: accountId } = await stage.addAccount('Alone')
    await stage.addSides(accountId)
    await stage.target.query('create table alone (id integer primary key, name text, email text)')
    const { id } = await stage.connect(accountId, 'Alone', { table: 'alone', activate: false })
    const page = await stage.open(wizard(accountId, `?connection=${id}&step=review`))
    await page.getByRole('button', { name: 'Activate', exact: true }).click()
    await page.getByRole('heading', { name: 'The connection is active' }).waitFor()
    assert.equal((await stage.client.listTransfers({ accountId, id })).total, 0)
    const { id: other } = await stage.connect(accountId, 'Refused', { table: 'alone', activate: false })
    await page.goto(wizard(accountId, `?connection=${other}&step=review`))
    await page.getByRole('button', { name: 'Activate and run' }).waitFor()
    await stage.client.editAccount({ id: accountId, body: { enabled: false } })
    await page.getByRole('button', { name: 'Activate and run' }).click()
    const anyway = page.getByRole('button', { name: 'Activate and run anyway' })
    const refused = page.getByRole('alert').getByText('The sub-account is disabled')
    await refused.or(anyway).first().waitFor()
    if (await anyway.isVisible()) await anyway.click()
    await refused.first().waitFor()
    await page.getByRole('button', { name: 'Run now' }).waitFor()
  })

  test('shows the columns of the file that is set now, and never those of the one before', async () => {
    const { id: accountId } = await stage.addAccount('Other file')
    await stage.addSides(accountId)
    await writeFile(join(stage.folder, 'pets.csv'), 'kind,age\ncat,3\n')
    const { id } = await stage.connect(accountId, 'Other file', { activate: false })
    const page = await stage.open(wizard(accountId, `?connection=${id}&step=mapping`))
    await seeSentColumns(page, ['id', 'name', 'email'])
    await page.getByText('Selected columns').click()
    const filled = page.getByRole('combobox', { name: /^Column/ }).first()
    const offered = async () => {
      await filled.click()
      const names = await page.getByRole('option').allTextContents()
      await page.keyboard.press('Escape')
      return names
    }
    assert.deepEqual(await offered(), ['id', 'name', 'email'])
    const setFile = async (file: string) => {
      await page.getByRole('button', { name: 'Back', exact: true }).click()
      await enterValue(region(page, 'Source'), 'Files', file)
      // Whatever is seen before the new file was read would be of the old one.
      const read = page.waitForResponse(/\/preview\?/)
      await page.getByRole('button', { name: 'Save and continue' }).click()
      await page.getByRole('heading', { name: 'Map fields' }).waitFor()
      assert.equal(await page.getByText(/^Such as/).count(), 0)
      await read
    }
    await setFile('pets.csv')
    await page.getByText('would be rejected').or(page.getByText('would be sent')).first().waitFor()
    await filled.waitFor()
    assert.deepEqual((await offered()).slice(0, 2), ['kind', 'age'])
    await setFile('gone.csv')
    await page.getByRole('alert').getByText('gone.csv').first().waitFor()
    assert.equal(await page.getByRole('combobox', { name: /^Column/ }).count(), 0, 'its columns are not known')
  })

  test('uploads a file on the first step, and another one in the settings of the source', async () => {
    const { id: accountId } = await stage.addAccount('Uploads')
    await stage.addSides(accountId)
    const page = await stage.open(wizard(accountId))
    const upload = async (name: string) => {
      const choosing = page.waitForEvent('filechooser')
      await page.getByRole('button', { name: 'Upload a file', exact: true }).click()
      await (await choosing).setFiles({ name, mimeType: 'text/csv', buffer: Buffer.from('id,name\n1,Ada\n') })
    }
    await upload('First people.csv')
    await page.getByText('Select the destination for the data of Uploaded file.').waitFor()
    await page.getByRole('button', { name: /^PostgreSQL/ }).click()
    const source = region(page, 'Source')
    const file = source.getByRole('combobox', { name: 'Uploaded file' })
    await file.getByText('First people.csv').waitFor()
    assert.equal(await source.getByRole('button', { name: 'Change' }).count(), 0, 'it needs no configuration')
    await upload('Second people.csv')
    await file.getByText('Second people.csv').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.equal(await page.getByLabel('Name').last().inputValue(), 'Second people')
  })

  test('preselects the only uploaded file, and configures before another configuration is offered', async () => {
    const { id: accountId } = await stage.addAccount('Only one')
    await stage.client.addConnectors({ accountId, body: { connectorIds: [fileUpload.id, postgresql.id] } })
    await stage.client.createUpload({ accountId, query: { name: 'Only orders.csv' }, body: Buffer.from('id\n1\n') })
    const page = await stage.open(
      wizard(accountId, `?source=${fileUpload.id}&destination=${postgresql.id}&step=settings`),
    )
    const [source, destination] = [region(page, 'Source'), region(page, 'Destination')]
    await source.getByRole('combobox', { name: 'Uploaded file' }).getByText('Only orders.csv').waitFor()
    assert.equal(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'Only orders')
    assert.equal(await destination.getByRole('textbox', { name: 'Table' }).inputValue(), 'only_orders')
    await destination.getByRole('button', { name: 'Configure PostgreSQL' }).waitFor()
    const another = { name: 'Add another configuration' }
    assert.equal(await page.getByRole('button', another).count(), 0)
    await stage.client.configureConnector({
      accountId,
      id: postgresql.id,
      body: { secretConfig: stage.targetSecrets },
    })
    await page.reload()
    await destination.getByRole('button', another).waitFor()
    const names = await destination.getByRole('button').evaluateAll((all) => all.map((one) => one.textContent))
    assert(names.indexOf('Change') < names.indexOf(another.name), `${names}`)
    assert.equal(await source.getByRole('button', another).count(), 0, 'an uploaded file needs no configuration')
  })

  test('proposes the table that is written and the cursor of a table that is read', async () => {
    await stage.target.query('create table shop_orders (id integer primary key, total numeric, updated_at timestamptz)')
    const { id: accountId } = await stage.addAccount('Proposals')
    await stage.addSides(accountId)
    const page = await stage.open(
      wizard(accountId, `?source=${postgresql.id}&destination=${postgresql.id}&step=settings`),
    )
    const [source, destination] = [region(page, 'Source'), region(page, 'Destination')]
    await enterValue(source, 'Table', 'shop_orders')
    // Both sides are one database, so the table that is read is not the table that is written.
    await destination.getByRole('combobox', { name: 'Table', exact: true }).getByText('shop_orders_copy').waitFor()
    await source.getByRole('radio', { name: 'New and changed rows' }).check()
    await source.getByRole('combobox', { name: 'Cursor column' }).getByText('updated_at').waitFor()
  })

  test('keeps a wide preview inside of its panel, with its names and its first column in sight', async () => {
    const { id: accountId } = await stage.addAccount('Wide')
    await stage.addSides(accountId)
    const names = Array.from({ length: 60 }, (_, i) => `column_number_${i + 1}`)
    const lines = Array.from({ length: 40 }, (_, row) => names.map((_, i) => `row ${row} of ${i}`).join(','))
    await writeFile(join(stage.folder, 'wide.csv'), `${names.join(',')}\n${lines.join('\n')}\n`)
    const { id } = await stage.connect(accountId, 'Wide', { file: 'wide.csv', activate: false })
    for (const look of [
      { width: 1440, height: 900, theme: 'light' },
      { width: 390, height: 844, theme: 'dark' },
    ] as const) {
      const page = await stage.open(wizard(accountId, `?connection=${id}&step=mapping`), { look })
      const panel = page.getByRole('region', { name: 'Records as they would be sent' })
      await panel.waitFor()
      await panel.scrollIntoViewIfNeeded()
      const first = panel.getByRole('columnheader').first()
      const cell = panel.getByRole('row').nth(20).getByRole('cell').first()
      // Measured next to the panel and at one instant, because the page around it can still move.
      const element = await panel.elementHandle()
      const placeOf = (one: Locator) =>
        one.evaluate((inner, outer) => {
          const [a, b] = [inner, outer ?? inner].map((each) => each.getBoundingClientRect())
          return { x: (a?.x ?? 0) - (b?.x ?? 0), y: (a?.y ?? 0) - (b?.y ?? 0) }
        }, element)
      await panel.getByRole('cell', { name: 'row 15 of 20', exact: true }).waitFor()
      const before = await placeOf(first)
      const scrolled = await panel.evaluate((one) => {
        one.scrollTo(2_000, 300)
        return [one.scrollLeft, one.scrollTop]
      })
      assert.deepEqual(scrolled, [2_000, 300])
      const after = await placeOf(first)
      // The border of the table, which scrolls away, is half a pixel or one.
      const stays = (now: number, then: number) => Math.abs(now - then) <= 1
      assert(stays(after.x, before.x) && stays(after.y, before.y), 'the name of the first column stays')
      assert(stays((await placeOf(cell)).x, before.x), 'the first column stays')
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      assert(width <= look.width, `the page is ${width} pixels wide`)
      assert.deepEqual(await accessibilityViolations(page), [])
    }
  })

  test('offers first what can move data', async () => {
    const { id } = await stage.addAccount('First things first')
    const page = await stage.open(wizard(id))
    const tiles = page.getByRole('region', { name: 'From the catalogue' }).getByRole('button')
    await tiles.first().waitFor()
    const moves = (await tiles.allTextContents()).map((text) => !text.includes('Not supported yet'))
    // There can be connectors through which no data moves.
    assert.ok(moves.includes(true))
    assert.ok(moves.slice(0, moves.lastIndexOf(true)).every((one) => one))
  })

  test('makes and activates a connection that cannot move data yet, and says so', async () => {
    const { id: accountId } = await stage.addAccount('Idle')
    // Withdrawn connectors, which accounts keep that added them before.
    const [from, to] = [connectorBySlug('fetch-audiences'), connectorBySlug('adikteev-custom-audience')]
    for (const one of [from, to]) await stage.sql(addsWithdrawn(accountId, one))
    const page = await stage.open(wizard(accountId, `?source=${from.id}&destination=${to.id}`))
    await region(page, 'Source').getByText(`cannot move data through ${from.name} yet`).waitFor()
    await page.getByRole('button', { name: 'Create the connection' }).click()
    await page.getByText('No preview available').waitFor()
    await page.getByText(`${to.name} does not support a mapping`).waitFor()
    await page.getByRole('button', { name: 'Continue to review' }).click()
    await page.getByText('Complete this to activate the connection').waitFor()
  })

  test('says what the service refuses: a name, a setting, a source that is not there, a change meanwhile', async () => {
    const { id: accountId } = await stage.addAccount('Refused')
    await stage.addSides(accountId)
    const page = await stage.open(wizard(accountId, `?source=${localFolder.id}&destination=${postgresql.id}`))
    await enterValue(region(page, 'Source'), 'Files', 'nowhere.csv')
    await findValue(region(page, 'Destination'), 'Table', 'people')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('   ')
    await page.getByRole('button', { name: 'Create the connection' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).and(page.locator('[aria-invalid=true]')).waitFor()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Refused')
    await page.getByRole('button', { name: 'Create the connection' }).click()
    await page.getByRole('alert').getByText('nowhere.csv').first().waitFor()
    await page.getByRole('button', { name: 'Back' }).click()

    const id = new URL(page.url()).searchParams.get('connection') ?? ''
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Mine')
    let theyWereFaster = false
    await page.route(/\/connections\/[^/]+\?accountId=/, async (route) => {
      if (route.request().method() === 'PUT' && !theyWereFaster) {
        theyWereFaster = true
        await stage.client.updateConnection({ accountId, id, body: { name: 'Theirs' } })
      }
      await route.continue()
    })
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await page.getByText('Modified by someone else').waitFor()
    await page.getByRole('cell', { name: 'Theirs', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Overwrite' }).click()
    await page.getByRole('heading', { name: 'Map fields' }).waitFor()
    await page.unrouteAll()
    assert.equal((await stage.client.getConnection({ accountId, id })).reply.name, 'Mine')

    await stage.client.updateConnection({ accountId, id, body: { srcConnectionConfig: { files: 'people.csv' } } })
    await stage.client.updateConnectionStatus({ accountId, id, body: { action: 'activate' } })
    await stage.client.editAccount({ id: accountId, body: { enabled: false } })
    await page.goto(wizard(accountId, `?connection=${id}&step=review`))
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByRole('alert').getByText('The sub-account is disabled').waitFor()
    await page.goto(wizard(accountId, '?connection=nobody'))
    await page.getByRole('alert').getByText('This was deleted, or you do not have access to it.').waitFor()
  })

  test('is sound for assistive technology in both themes, and fits a phone', async () => {
    const { id: accountId } = await stage.addAccount(
      'A name of many characters that has to be cut or wrapped somewhere',
    )
    await stage.addSides(accountId)
    const { id } = await stage.connect(accountId, 'Long '.repeat(40).trim(), { activate: false })
    const pages: [string, string][] = [
      ['', 'From the catalogue'],
      [`?source=${localFolder.id}`, 'From the catalogue'],
      [`?source=${localFolder.id}&destination=${postgresql.id}`, 'Create the connection'],
      [`?connection=${id}&step=mapping`, 'would be sent'],
      [`?connection=${id}&step=review`, 'Activation'],
    ]
    for (const look of [
      { width: 1440, height: 900, theme: 'dark' },
      { width: 390, height: 844, theme: 'light' },
    ] as const) {
      const page = await stage.open(wizard(accountId), { look })
      for (const [query, text] of pages) {
        await page.goto(wizard(accountId, query))
        await page.getByText(text).first().waitFor()
        assert.deepEqual(await accessibilityViolations(page), [], `${query} ${look.theme}`)
        const tooWide = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
        assert(tooWide <= 0, `${query} is ${tooWide} px wider than the screen`)
      }
    }
  })
})

const region = (page: Page, side: 'Source' | 'Destination') =>
  page.getByRole('region', { name: new RegExp(`^${side}: `) })
