import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startForwardingServer } from '../packages/connectors/test/ssh-forwarding.ts'
import { makeSshKey } from '../packages/connectors/test/ssh-keys.ts'
import { accessibilityViolations, pick, skip } from './harness/browser.ts'
import { type ConsoleStage, localFolder, postgresql, startConsole } from './harness/console.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { until } from './harness/until.ts'
import { addsWithdrawn } from './harness/withdrawn.ts'

const azure = connectorBySlug('azure-blob-storage-source')
const sftp = connectorBySlug('sftp-source')
const mparticle = connectorBySlug('mparticle-events')
/** No data moves through it: it is withdrawn, and kept by accounts that added it before. */
const unmoved = connectorBySlug('adikteev-custom-audience')
const phone = { width: 390, height: 844 }

/** Everything in a page: what it shows, what is typed in it, what it stores. */
const all = `
  document.documentElement.outerHTML +
  [...document.querySelectorAll('input, textarea')].map(({ value }) => value).join() +
  JSON.stringify({ ...localStorage, ...sessionStorage }) +
  location.href`

/** Pastes two lines where the cursor is. */
const pasteLines = `{
  const clipboardData = new DataTransfer()
  clipboardData.setData('text', 'first\\nsecond')
  document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
}`

describe('the connectors of a sub-account, in the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  /** A sub-account with connectors that nothing is configured of. */
  const accountWith = async (name: string, ...connectors: { id: string }[]) => {
    const { id } = await stage.addAccount(name)
    const connectorIds = connectors.filter((one) => one.id !== unmoved.id).map((one) => one.id)
    if (connectorIds.length > 0) await stage.client.addConnectors({ accountId: id, body: { connectorIds } })
    if (connectors.includes(unmoved)) await stage.sql(addsWithdrawn(id, unmoved))
    return { id, path: `/accounts/${id}/connectors` }
  }
  const keyOfAzure = { authType: 'account-key', accountName: 'northwind', accessKey: 'stored' }
  const dialog = (page: Page, name: string) => page.getByRole('dialog', { name })

  test('are listed with what they are, whether they are ready and where they are used', async () => {
    const { id, path } = await accountWith('Listed', azure, unmoved)
    await stage.addSides(id)
    await stage.connect(id, 'Spring customers', { activate: false })
    const page = await stage.open(path)
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    await row('PostgreSQL').getByText('Source and destination').waitFor()
    await row('PostgreSQL').getByText('Not checked', { exact: true }).filter({ visible: true }).waitFor()
    await row(azure.name).getByText('Not configured').filter({ visible: true }).waitFor()
    await row(unmoved.name).getByText('configuration only').waitFor()
    await row('PostgreSQL').getByRole('link', { name: '1 connection' }).filter({ visible: true }).click()
    await page.waitForURL(`**/accounts/${id}/connections?q=PostgreSQL`)
  })

  test('are searched, narrowed and paged in the address', async () => {
    const { reply } = await stage.client.listConnectors({
      accountId: (await stage.addAccount('Catalogue')).id,
      query: { size: 500 },
    })
    const { path } = await accountWith('Many', ...reply.map(({ connectorId: id }) => ({ id })))
    const page = await stage.open(path)
    const rows = page.getByRole('region', { name: 'Connectors' }).getByRole('row')
    await page.getByText(`1–25 of ${reply.length}`).waitFor()
    await page.getByRole('button', { name: 'Page 2' }).click()
    await page.waitForURL('**/connectors?page=2')
    await page.getByText(`26–50 of ${reply.length}`).waitFor()
    // Opening an entry does not scroll the list.
    await rows.nth(3).getByRole('button', { name: 'Actions for' }).click()
    await page.getByRole('menuitem', { name: 'Configure', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    assert.equal(new URL(page.url()).search, '?page=2')
    await page.getByRole('searchbox', { name: 'Search connectors' }).fill('SNOWflake')
    await page.waitForURL('**/connectors?q=SNOWflake')
    await page.getByText('Snowflake Source').first().waitFor()
    await page.getByText('PostgreSQL').first().waitFor({ state: 'detached' })
    await page.getByRole('radiogroup', { name: 'Configuration' }).getByText('Configured', { exact: true }).click()
    await page.getByText('No matching connectors').waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByText(`1–25 of ${reply.length}`).waitFor()
  })

  test('are sorted by their headings, in the address', async () => {
    const { id, path } = await accountWith('Sorted', azure, unmoved)
    await stage.addSides(id)
    await stage.connect(id, 'Sorted customers', { activate: false })
    const page = await stage.open(path)
    const heading = (name: string) => page.getByRole('columnheader', { name })
    const first = (name: string) =>
      until(`${name} is first`, async () => (await page.getByRole('row').nth(1).textContent())?.includes(name) === true)
    await heading('Used in').getByRole('button').press('Enter')
    await page.waitForURL('**/connectors?sort=-connections')
    await until('it says so', async () => (await heading('Used in').getAttribute('aria-sort')) === 'descending')
    await first('1 connection')
    await heading('Connector').getByRole('button').click()
    await page.waitForURL('**/connectors?sort=name')
    await first(unmoved.name)
    await page.goto(`${page.url().replace(/\?.*/, '')}?sort=-name`)
    await first('PostgreSQL')
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('of the page before cannot be acted on while the next page is on its way', async () => {
    const { reply } = await stage.client.listConnectors({
      accountId: (await stage.addAccount('Catalogue of slow pages')).id,
      query: { size: 500 },
    })
    const { path } = await accountWith('Slow pages', ...reply.map(({ connectorId: id }) => ({ id })))
    const page = await stage.open(path)
    await page.getByText(`1–25 of ${reply.length}`).waitFor()
    let answer = () => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route(/offset=25/, async (route) => {
      await answered
      await route.continue()
    })
    await page.getByRole('button', { name: 'Page 2' }).click()
    await page.waitForURL('**/connectors?page=2')
    await page.locator('[inert][aria-busy=true]').getByText('PostgreSQL').first().waitFor()
    assert.equal(await page.getByText(`26–50 of ${reply.length}`).count(), 0)
    answer()
    await page.getByText(`26–50 of ${reply.length}`).waitFor()
    assert.equal(await page.locator('[inert]').count(), 0)
  })

  test('are none at first, which leads to the catalogue', async () => {
    const { path } = await accountWith('Empty')
    const page = await stage.open(path)
    await page.getByText('No connectors yet').waitFor()
    await page.getByRole('link', { name: 'Add connectors' }).last().click()
    await page.waitForURL('**/catalogue')
  })

  test('are configured in a form that asks for what counts and shows each error at its field', async () => {
    const { id, path } = await accountWith('Conditions', azure)
    const page = await stage.open(`${path}?configure=${azure.id}`)
    const form = dialog(page, `Configure ${azure.name}`)
    const documentation = await form.getByRole('link', { name: 'Documentation' }).getAttribute('href')
    assert.equal(documentation, `/docs/connectors/${azure.slug}`)
    await form.getByRole('combobox', { name: 'Sign-in method' }).waitFor()
    assert.equal(await form.getByLabel('Account name').count(), 0)
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await form.getByText('Sign-in method is required.').waitFor()
    await pick(form.getByRole('combobox', { name: 'Sign-in method' }), 'Account key')
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    const account = form.getByRole('textbox', { name: 'Account name' })
    await form.getByText('Account name is required.').waitFor()
    assert.equal(await account.getAttribute('aria-invalid'), 'true')
    assert.match((await account.getAttribute('aria-describedby')) ?? '', /error/)
    await form.locator(':focus[aria-invalid=true]').waitFor()
    // A value of a field that no longer applies is not sent.
    await account.fill('forgotten')
    await pick(form.getByRole('combobox', { name: 'Sign-in method' }), 'Shared access signature')
    await account.waitFor({ state: 'detached' })
    await form.getByRole('textbox', { name: /^SAS URL/ }).fill('https://northwind.blob.core.windows.net/c?sig=x')
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(`${azure.name} is configured`).waitFor()
    await form.waitFor({ state: 'detached' })
    assert.equal(await savedValue(id, azure.id, 'accountName'), '')
    assert.equal(await savedValue(id, azure.id, 'authType'), 'sas-url')
  })

  test('never show a secret again: not on the page, not as curl, not in storage', async () => {
    const { id, path } = await accountWith('Secrets', azure)
    const page = await stage.open(`${path}?configure=${azure.id}`)
    const canary = `canary-${id}`
    const form = dialog(page, `Configure ${azure.name}`)
    await pick(form.getByRole('combobox', { name: 'Sign-in method' }), 'Account key')
    await form.getByRole('textbox', { name: /^Access key/ }).fill(canary)
    // Refused once, because it must be typed, and then saved.
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await form.getByText('Account name is required.').waitFor()
    await form.getByRole('textbox', { name: 'Account name' }).fill('northwind')
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await form.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: azure.name, exact: true }).click()
    await form.getByText('Set, last changed').waitFor()
    const seen = () => page.evaluate<string>(all)
    assert(!(await seen()).includes(canary))
    await form.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'As curl' }).click()
    await page.getByText(`PUT · 200`).waitFor()
    const curl = await seen()
    assert(curl.includes('accessKey') && curl.includes('********'))
    assert(!curl.includes(canary))
  })

  test('keep a secret until it is replaced, and clear only one that is not needed', async () => {
    const { id, path } = await accountWith('Replaced', azure, connectorBySlug('amazon-s3-source'))
    const s3 = connectorBySlug('amazon-s3-source')
    await stage.client.configureConnector({ accountId: id, id: azure.id, body: { secretConfig: keyOfAzure } })
    await stage.client.configureConnector({
      accountId: id,
      id: s3.id,
      body: { secretConfig: { accessKeyId: 'AKIA', secretAccessKey: 's', sessionToken: 'limited' } },
    })
    const sent: unknown[] = []
    const page = await stage.open(`${path}?configure=${azure.id}`)
    page.on('request', (request) => request.method() === 'PUT' && sent.push(request.postDataJSON()))
    const form = dialog(page, `Configure ${azure.name}`)
    // A replacement that is begun and left empty replaces nothing, and the stored value does not follow to another account.
    await form.getByRole('button', { name: 'Replace: Access key' }).click()
    assert.equal(await form.getByRole('button', { name: 'Clear: Access key' }).count(), 0)
    await form.getByRole('textbox', { name: 'Account name' }).fill('southwind')
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await form
      .getByText(
        'Access key must be entered again: saved secrets are not reused after connection details change (Account name)',
      )
      .waitFor()
    await form.getByRole('textbox', { name: /^Access key/ }).fill('another')
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await form.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: s3.name, exact: true }).click()
    const other = dialog(page, `Configure ${s3.name}`)
    await other.getByRole('button', { name: 'Clear: Session token' }).click()
    await other.getByText('Will be cleared when you save').waitFor()
    await other.getByRole('button', { name: 'Save', exact: true }).click()
    await other.waitFor({ state: 'detached' })
    assert.deepEqual(sent, [
      { secretConfig: { accountName: 'southwind' } },
      { secretConfig: { accountName: 'southwind', accessKey: 'another' } },
      { secretConfig: { sessionToken: null } },
    ])
    assert.equal(await savedValue(id, s3.id, 'sessionToken'), '')
  })

  test('take a key of several lines as it was pasted, and hide it', async () => {
    const { path } = await accountWith('Keys', sftp)
    const page = await stage.open(`${path}?configure=${sftp.id}`)
    const form = dialog(page, `Configure ${sftp.name}`)
    const key = form.getByRole('textbox', { name: 'Private key' })
    await key.fill('-----BEGIN KEY-----\nabc\n-----END KEY-----')
    assert.match(await key.inputValue(), /\nabc\n/)
    const shown = await page.evaluate<string>(
      `getComputedStyle(document.querySelector('[role=dialog] textarea')).webkitTextSecurity`,
    )
    assert.equal(shown, 'disc')
    await pick(form.getByRole('combobox', { name: 'Authentication' }), 'Password')
    await form.getByRole('textbox', { name: /^Password/ }).focus()
    await page.evaluate(pasteLines)
    const pasted = form.getByRole('textbox', { name: 'Password' })
    assert.equal(await pasted.inputValue(), 'first\nsecond')
    assert.equal(await pasted.and(page.locator(':focus')).count(), 1)
    const port = form.getByRole('textbox', { name: 'Port' })
    assert.equal(await port.inputValue(), '22')
    await form.getByText('From 1 to 65535.').waitFor()
    await port.fill('70000')
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await form.getByText('Port must be at most 65535.').waitFor()
  })

  test('are given a signing secret that the browser makes, and none of another form', async () => {
    const webhook = connectorBySlug('webhook')
    const { id, path } = await accountWith('Signed', webhook)
    const page = await stage.open(`${path}?configure=${webhook.id}`)
    const sent: unknown[] = []
    page.on('request', (request) => request.method() === 'PUT' && sent.push(request.postDataJSON()))
    const form = dialog(page, 'Configure Webhook')
    await form.getByRole('textbox', { name: 'URL' }).fill('https://hooks.example.com/rows')
    const secret = form.getByRole('textbox', { name: /^Signing secret/ })
    await secret.fill('whsec_short')
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await form.getByText('Signing secret must be whsec_ and the Base64 form of 24 to 64 random bytes.').waitFor()
    assert.deepEqual(sent, [], 'it is judged before it is sent')
    await form.getByRole('button', { name: 'Generate: Signing secret' }).click()
    const first = await secret.inputValue()
    assert.equal(Buffer.from(/^whsec_([A-Za-z0-9+/]{43}=)$/.exec(first)?.[1] ?? '', 'base64').length, 32)
    await form.getByRole('button', { name: 'Copy: Signing secret' }).waitFor()
    await form.getByText('It is not shown again').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByRole('button', { name: 'Generate: Signing secret' }).click()
    assert.notEqual(await secret.inputValue(), first)
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await form.waitFor({ state: 'detached' })
    assert.equal(sent.length, 1)
    assert.equal(await savedValue(id, webhook.id, 'signingSecret'), '********')
  })

  test('keep in this browser that their last check failed, until it succeeds or they are configured again', async () => {
    const { id, path } = await accountWith('Kept in the browser', localFolder, sftp)
    const configure = (folder: string) =>
      stage.client.configureConnector({ accountId: id, id: localFolder.id, body: { secretConfig: { folder } } })
    await configure('/nowhere')
    const page = await stage.open(`${path}?check=${localFolder.id}`)
    const check = dialog(page, 'Check Local folder')
    await check.getByText('Check failed').waitFor()
    await check.getByRole('button', { name: 'Close' }).last().click()
    const row = page.getByRole('row').filter({ hasText: 'Local folder' })
    const failed = row.getByText('Check failed').filter({ visible: true })
    await failed.waitFor()
    await page.reload()
    await failed.waitFor()
    await page.getByRole('button', { name: 'Local folder', exact: true }).click()
    const form = dialog(page, 'Configure Local folder')
    await form.getByText('Check failed').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByRole('textbox', { name: 'Folder' }).fill(stage.folder)
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await form.waitFor({ state: 'detached' })
    await failed.waitFor({ state: 'detached' })
    // A configuration that was saved elsewhere since drops the result of the earlier check.
    await configure('/nowhere')
    await page.goto(`${path}?check=${localFolder.id}`)
    await check.getByText('Check failed').waitFor()
    await configure(stage.folder)
    await check.getByRole('button', { name: 'Check again' }).click()
    await check.getByText('Check passed').waitFor()
    await check.getByRole('button', { name: 'Close' }).last().click()
    await failed.waitFor({ state: 'detached' })
  })

  test('that another user changed meanwhile are shown in both versions, without secrets', async () => {
    const { id, path } = await accountWith('Meanwhile', azure)
    const configure = (secretConfig: Record<string, string>) =>
      stage.client.configureConnector({ accountId: id, id: azure.id, body: { secretConfig } })
    await configure(keyOfAzure)
    const page = await stage.open(`${path}?configure=${azure.id}`)
    const form = dialog(page, `Configure ${azure.name}`)
    const name = form.getByRole('textbox', { name: 'Account name' })
    await form.getByRole('button', { name: 'Replace: Access key' }).click()
    await form.getByRole('textbox', { name: /^Access key/ }).fill('canary-of-mine')
    await name.fill('mine')
    await configure({ accountName: 'theirs', accessKey: 'canary-of-theirs' })
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await form.getByText('Modified by someone else').waitFor()
    const versions = form.getByRole('table')
    await versions.getByRole('row', { name: 'Account name mine theirs' }).waitFor()
    await versions.getByRole('row', { name: 'Access key New value (not shown) Set (not shown)' }).waitFor()
    assert(!(await form.innerHTML()).includes('canary-of-theirs'))
    await form.getByRole('button', { name: 'Discard my changes' }).click()
    await form.getByText('Modified by someone else').waitFor({ state: 'detached' })
    assert.equal(await name.inputValue(), 'theirs')
    await name.fill('mine')
    await form.getByRole('button', { name: 'Replace: Access key' }).click()
    await form.getByRole('textbox', { name: /^Access key/ }).fill('canary-of-mine')
    await configure({ accountName: 'theirs again', accessKey: 'canary-of-theirs' })
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await form.getByRole('button', { name: 'Overwrite' }).click()
    await form.waitFor({ state: 'detached' })
    assert.equal(await savedValue(id, azure.id, 'accountName'), 'mine')
  })

  test('that an active connection needs stay complete: what would be cleared says for which connection', async () => {
    const { id, path } = await accountWith('Needed', mparticle)
    await stage.addSides(id)
    const secretConfig = { key: 'k', secret: 's' }
    await stage.client.configureConnector({ accountId: id, id: mparticle.id, body: { secretConfig } })
    const { reply: connection } = await stage.client.createConnection({
      accountId: id,
      body: {
        name: 'Sends events',
        srcConnectorId: localFolder.id,
        destConnectorId: mparticle.id,
        srcConnectionConfig: { files: 'events.csv' },
      },
    })
    await stage.client.updateConnectionStatus({ accountId: id, id: connection.id, body: { action: 'activate' } })
    const page = await stage.open(`${path}?configure=${mparticle.id}`)
    const form = dialog(page, `Configure ${mparticle.name}`)
    await form.getByText('Required only for the destination of a connection.').first().waitFor()
    await form.getByRole('button', { name: 'Clear: Key' }).click()
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await form.getByText('Key is required.', { exact: true }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByRole('alert').getByRole('link', { name: 'Sends events is active and needs it' }).click()
    await page.waitForURL(`**/connections/${connection.id}`)
  })

  test('are checked step by step, and checked again once fixed', async () => {
    const { id, path } = await accountWith('Checked')
    await stage.addSides(id)
    await stage.client.configureConnector({
      accountId: id,
      id: postgresql.id,
      body: { secretConfig: { database: 'there_is_no_such_database' } },
    })
    const page = await stage.open(`${path}?check=${postgresql.id}`)
    const check = dialog(page, `Check ${postgresql.name}`)
    await check.getByText('Check failed').waitFor()
    await check.getByRole('listitem').filter({ hasText: 'Connectivity: OK' }).waitFor()
    await check.getByRole('listitem').filter({ hasText: ': failed' }).waitFor()
    await check.getByRole('button', { name: 'Configure' }).click()
    const form = dialog(page, `Configure ${postgresql.name}`)
    await form.getByRole('textbox', { name: 'Database' }).fill(String(stage.targetSecrets.database))
    await form.getByRole('button', { name: 'Save and check' }).click()
    await check.getByText('Check passed').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await check.getByRole('button', { name: 'Close' }).last().click()
    await check.waitFor({ state: 'detached' })
    assert.equal(new URL(page.url()).search, '')
  })

  test('have the host key of their bastion trusted with a button', async () => {
    const hostKey = makeSshKey('ed25519').private
    const bastion = await startForwardingServer({ hostKey, username: 'ada', password: 'canary-password' })
    after(() => bastion.close())
    const { id, path } = await accountWith('Behind a bastion')
    await stage.addSides(id)
    const secretConfig = {
      ...stage.targetSecrets,
      connectThrough: 'bastion',
      bastionHost: '127.0.0.1',
      bastionPort: bastion.port,
      bastionUser: 'ada',
      bastionAuthentication: 'password',
      bastionPassword: 'canary-password',
    }
    await stage.client.configureConnector({ accountId: id, id: postgresql.id, body: { secretConfig } })
    const page = await stage.open(`${path}?check=${postgresql.id}`)
    const check = dialog(page, `Check ${postgresql.name}`)
    await check.getByText('Check failed').waitFor()
    await check
      .getByText(/shows the host key SHA256:/)
      .first()
      .waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await check.getByRole('button', { name: 'Trust this key' }).click()
    await check.getByText('Check passed').waitFor()
  })

  test('have several configurations: added, configured, renamed, checked and deleted on the page', async () => {
    const { id, path } = await accountWith('Several', azure)
    await stage.client.configureConnector({ accountId: id, id: azure.id, body: { secretConfig: keyOfAzure } })
    const page = await stage.open(path)
    await page.getByRole('button', { name: `Actions for ${azure.name}` }).click()
    await page.getByRole('menuitem', { name: 'Configurations' }).click()
    const list = dialog(page, `Configurations of ${azure.name}`)
    await list.getByText('Used by default').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await list.getByRole('button', { name: 'Add configuration' }).click()
    const adding = dialog(page, `Add a configuration of ${azure.name}`)
    await adding.getByLabel('Name').fill('Default')
    await adding.getByRole('button', { name: 'Add configuration' }).click()
    await adding.getByText('Is the name of another configuration.').waitFor()
    await adding.getByLabel('Name').fill('Staging')
    await adding.getByRole('button', { name: 'Add configuration' }).click()
    const form = dialog(page, `Configure ${azure.name} · Staging`)
    await pick(form.getByRole('combobox', { name: 'Sign-in method' }), 'Account key')
    await form.getByRole('textbox', { name: 'Account name' }).fill('staging')
    await form.getByRole('textbox', { name: /^Access key/ }).fill('another')
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await form.waitFor({ state: 'hidden' })
    const read = async () => (await stage.client.listConnectorConfigurations({ accountId: id })).reply
    assert.deepEqual(
      (await read()).map(({ name, settings }) => [name, settings.accountName]),
      [
        ['Default', 'northwind'],
        ['Staging', 'staging'],
      ],
    )
    const open = async (item: string) => {
      await page.goto(`${new URL(page.url()).origin}${path}?configurations=${azure.id}`)
      await page.getByRole('button', { name: 'Actions for Staging' }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await open('Rename')
    const renaming = dialog(page, 'Rename Staging')
    await renaming.getByLabel('Name').fill('Test')
    await renaming.getByRole('button', { name: 'Save' }).click()
    await list.getByText('Test', { exact: true }).waitFor()
    assert.deepEqual(
      (await read()).map(({ name }) => name),
      ['Default', 'Test'],
    )
    await page.getByRole('button', { name: 'Actions for Default' }).click()
    await page.getByText('The first configuration belongs to the connector').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Actions for Test' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await dialog(page, 'Delete Test?').getByRole('button', { name: 'Delete' }).click()
    await list.getByText('Test', { exact: true }).waitFor({ state: 'hidden' })
    assert.equal((await read()).length, 1)
  })

  test('that cannot be checked say why', async () => {
    const { path } = await accountWith('Unchecked', unmoved, azure)
    const page = await stage.open(path)
    await page.getByRole('button', { name: `Actions for ${unmoved.name}` }).click()
    await page.getByRole('menuitem', { name: 'Check', disabled: true }).getByText('cannot check').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: `Actions for ${azure.name}` }).click()
    await page.getByRole('menuitem', { name: 'Check', disabled: true }).getByText('not configured').waitFor()
  })

  test('that a connection holds are not removed: it is named, with the way to it', async () => {
    const { id, path } = await accountWith('Held')
    await stage.addSides(id)
    const connection = await stage.connect(id, 'Holds it', { activate: false })
    const page = await stage.open(path)
    await remove(page, localFolder.name)
    const held = dialog(page, `${localFolder.name} is in use`)
    await held.getByText('Draft').waitFor()
    await held.getByRole('link', { name: 'Holds it' }).click()
    await page.waitForURL(`**/connections/${connection.id}`)
  })

  test('that came into use while one was asked are not removed either', async () => {
    const { id, path } = await accountWith('Raced')
    await stage.addSides(id)
    const page = await stage.open(path)
    await remove(page, localFolder.name)
    const confirm = dialog(page, `Remove ${localFolder.name}?`)
    await confirm.getByLabel('to confirm').fill(localFolder.name)
    await stage.connect(id, 'Came between', { activate: false })
    await confirm.getByRole('button', { name: 'Remove' }).click()
    await dialog(page, `${localFolder.name} is in use`).getByRole('link', { name: 'Came between' }).waitFor()
  })

  test('are removed once their name was typed, and can be added again from an old link', async () => {
    const { id, path } = await accountWith('Removed', azure)
    await stage.client.configureConnector({ accountId: id, id: azure.id, body: { secretConfig: keyOfAzure } })
    const page = await stage.open(path)
    await remove(page, azure.name)
    const confirm = dialog(page, `Remove ${azure.name}?`)
    assert(await confirm.getByRole('button', { name: 'Remove' }).isDisabled())
    await confirm.getByLabel('to confirm').fill(azure.name)
    await confirm.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No connectors yet').waitFor()
    await page.goto(`${path}?configure=${azure.id}`)
    const form = dialog(page, `Configure ${azure.name}`)
    await form.getByText('not added to this sub-account').waitFor()
    await form.getByRole('button', { name: 'Add to this sub-account' }).click()
    await form.getByRole('combobox', { name: 'Sign-in method' }).waitFor()
  })

  test('are done with the keyboard alone', async () => {
    const { id, path } = await accountWith('Keyboard', localFolder)
    const page = await stage.open(path)
    await page.getByRole('button', { name: localFolder.name, exact: true }).focus()
    await page.keyboard.press('Enter')
    const form = dialog(page, `Configure ${localFolder.name}`)
    const folder = form.getByRole('textbox', { name: 'Folder' })
    await folder.waitFor()
    for (let steps = 0; steps < 10 && !(await folder.and(page.locator(':focus')).count()); steps++)
      await page.keyboard.press('Tab')
    await page.keyboard.type(stage.folder)
    await page.keyboard.press('Enter')
    await form.waitFor({ state: 'detached' })
    assert.equal(await savedValue(id, localFolder.id, 'folder'), stage.folder)
  })

  for (const theme of ['light', 'dark'] as const) {
    test(`is accessible, in the ${theme} theme and on a phone`, async () => {
      const { id, path } = await accountWith(`Everyone, ${theme}`, azure, unmoved)
      await stage.client.configureConnector({ accountId: id, id: azure.id, body: { secretConfig: keyOfAzure } })
      const page = await stage.open(path, { look: { ...phone, theme } })
      await page.getByRole('button', { name: azure.name, exact: true }).waitFor()
      assert.deepEqual(await accessibilityViolations(page), [])
      await page.setViewportSize({ width: 1440, height: 900 })
      assert.deepEqual(await accessibilityViolations(page), [])
      await page.getByRole('button', { name: azure.name, exact: true }).click()
      const form = dialog(page, `Configure ${azure.name}`)
      await form.getByRole('textbox', { name: 'Account name' }).fill(' ')
      await form.getByRole('button', { name: 'Save', exact: true }).click()
      await form.getByText('Account name must not be blank.').waitFor()
      assert.deepEqual(await accessibilityViolations(page), [])
      await page.setViewportSize(phone)
      await until('it fits', () => page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'))
    })
  }

  async function remove(page: Page, name: string): Promise<void> {
    await page.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
  }

  async function savedValue(accountId: string, id: string, name: string): Promise<string | undefined> {
    const { reply } = await stage.client.getConnectorConfiguration({ accountId, id })
    return reply.secretConfig[0]?.configuration.find((field) => field.name === name)?.value
  }
})
