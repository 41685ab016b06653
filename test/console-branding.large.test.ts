import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, pick, skip } from './harness/browser.ts'
import { type ConsoleStage, localFolder, startConsole } from './harness/console.ts'

/** The branding of connect links in the console, and the links of a sub-account, as customers then see them. */

const pictureOf = (bytes: Buffer, name = 'logo.png', mimeType = 'image/png') => ({ name, mimeType, buffer: bytes })
/** One red pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)

describe('connect links in the console', { skip }, () => {
  let stage: ConsoleStage
  let accountId: string
  before(async () => {
    stage = await startConsole()
    accountId = (await stage.addAccount('Acme Outdoor')).id
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const createLink = async () => {
    const body = { accountId, connectorIds: [localFolder.id] }
    return (await stage.client.createConnectLink({ body })).reply
  }
  /** Opens a link as a customer does, in a browser that no one has signed in with. */
  const visit = async (url: string): Promise<Page> => {
    const { pathname, hash } = new URL(url)
    return stage.open(`${pathname}${hash}`, { signedIn: false })
  }
  const styleOf = (page: Page, selector: string) =>
    page.locator(selector).evaluate<[string, string], HTMLElement>((element) => {
      const { backgroundColor, color } = (
        globalThis as unknown as { getComputedStyle(of: object): { backgroundColor: string; color: string } }
      ).getComputedStyle(element)
      return [backgroundColor, color]
    })

  test('the branding is changed, with what is wrong at its field, and seen on the page of a link', async () => {
    const page = await stage.open('/branding')
    const save = page.getByRole('button', { name: 'Save' })
    const preview = page.getByRole('region', { name: 'Preview' })
    await preview.getByText('Your organization asks you to connect').waitFor()
    await page.getByRole('textbox', { name: 'Name' }).fill('Acme Shop')
    await preview.getByText('Acme Shop asks you to connect').waitFor()

    const logo = page.locator('input[type=file]')
    await logo.setInputFiles(pictureOf(Buffer.from('<svg/>'), 'logo.svg', 'image/svg+xml'))
    await page.getByText('Choose a PNG or WebP file.').waitFor()
    await logo.setInputFiles(pictureOf(Buffer.alloc(70_000)))
    await page.getByText('The file is 69 KiB.').waitFor()
    await logo.setInputFiles(pictureOf(Buffer.from('no picture')))
    await page.getByRole('img', { name: 'The logo' }).waitFor({ state: 'attached' })

    await page.getByRole('radio', { name: 'Your colours' }).check()
    const primary = page.getByRole('textbox', { name: 'Primary colour', exact: true })
    await primary.fill('#12')
    await page.getByText('Enter a colour as #rrggbb').waitFor()
    await primary.fill('#ffdd00')
    await page.getByText('Everyone can read this').waitFor()
    // White on yellow: the console reports this before the service refuses it.
    await page.getByRole('radio', { name: 'Custom colour' }).check()
    const text = page.getByRole('textbox', { name: 'Custom text colour', exact: true })
    await text.fill('#ffffff')
    await page.getByText('At least 4.5:1 is required.').waitFor()
    for (const [row, origin] of ['', 'https://shop.example.com', 'http://shop.example.com'].entries()) {
      await page.getByRole('button', { name: 'Add an origin' }).click()
      await page.getByRole('textbox', { name: `Origin ${row + 1}` }).fill(origin)
    }
    await save.click()
    // Rows that are empty are not sent, and do not move the messages of the others.
    const described = page.getByRole('textbox', { name: 'Origin 3' })
    await described.and(page.locator('[aria-invalid=true]')).waitFor()
    assert.equal(await page.getByRole('textbox', { name: 'Origin 2' }).getAttribute('aria-invalid'), null)
    await page.getByRole('button', { name: 'Remove origin 3' }).click()
    await save.click()
    await page.getByText('Is no PNG.').waitFor()
    await page.getByText('Is hard to read on #ffdd00').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])

    await page.getByRole('button', { name: 'Use #000000' }).click()
    await logo.setInputFiles(pictureOf(png))
    await save.click()
    await page.getByText('The branding was saved').waitFor()
    assert.deepEqual((await stage.client.getBranding({})).reply, {
      name: 'Acme Shop',
      logo: `data:image/png;base64,${png.toString('base64')}`,
      colours: { primary: '#ffdd00', text: '#000000' },
      allowedOrigins: ['https://shop.example.com'],
    })
    assert.deepEqual(await accessibilityViolations(page), [])
    const shown = ['rgb(255, 221, 0)', 'rgb(0, 0, 0)']
    assert.deepEqual(await styleOf(page, 'section[aria-label=Preview] header'), shown)

    const customer = await visit((await createLink()).url)
    await customer.getByText('Acme Shop asks you to connect Local folder').waitFor()
    assert.deepEqual(await styleOf(customer, 'header'), shown)
    assert.deepEqual(await styleOf(customer, 'main button'), shown)
    assert.equal(await customer.locator('header img').count(), 1)
    assert.deepEqual(await accessibilityViolations(customer), [])

    // Unsaved input is dropped.
    await page.getByRole('textbox', { name: 'Name' }).fill('Another')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    assert.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'Acme Shop')
  })

  test('a link is created, opened, listed and revoked', async () => {
    const page = await stage.open(`/accounts/${accountId}/connect-links`)
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Create a connect link' }).first().click()
    const create = dialog.getByRole('button', { name: 'Create a connect link' })
    await create.click()
    await dialog.getByText('Choose at least one connector.').waitFor()
    await dialog.getByRole('combobox', { name: 'Connectors' }).click()
    await page.getByRole('option', { name: 'Local folder', exact: true }).click()
    await page.keyboard.press('Tab')
    await dialog.getByRole('textbox', { name: 'Redirect URL' }).fill('http://shop.example.com/')
    await create.click()
    await dialog.getByText('Is invalid. Redirect URL').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('textbox', { name: 'Redirect URL' }).fill('https://shop.example.com/')
    await create.click()
    await dialog.getByText('This is the only time that the link is shown').waitFor()
    const url = await dialog.getByRole('textbox', { name: 'Connect link' }).inputValue()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'I have copied the link' }).click()

    const row = page.getByRole('row').filter({ hasText: 'Not opened yet' }).first()
    await row.getByText('Local folder').waitFor()
    const customer = await visit(url)
    await customer.getByRole('button', { name: 'Continue' }).click()
    await customer.getByRole('textbox', { name: 'Folder' }).waitFor()
    await page.reload()
    const opened = page.getByRole('row').filter({ has: page.getByText('Open', { exact: true }) })
    await opened.waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await opened.getByRole('button', { name: 'Actions for the link to Local folder' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('row').filter({ hasText: 'Revoked' }).waitFor()
    await customer.getByRole('textbox', { name: 'Folder' }).fill(stage.folder)
    await customer.getByRole('button', { name: /^Save/ }).click()
    await customer.getByRole('heading', { name: 'Your time is up' }).waitFor()
  })

  test('a link is for the configuration that is picked, or for one that is added on the spot', async () => {
    const { id } = await stage.addAccount('Several configurations')
    await stage.client.addConnectors({ accountId: id, body: { connectorIds: [localFolder.id] } })
    const page = await stage.open(`/accounts/${id}/connect-links`)
    const form = page.getByRole('dialog', { name: 'Create a connect link' })
    await page.getByRole('button', { name: 'Create a connect link' }).first().click()
    await form.getByRole('combobox', { name: 'Connectors' }).click()
    await page.getByRole('option', { name: 'Local folder', exact: true }).click()
    await page.keyboard.press('Tab')
    const picker = form.getByRole('combobox', { name: 'Configuration of Local folder' })
    // With a single configuration there is nothing to pick.
    await form.getByRole('button', { name: 'Add another configuration' }).click()
    assert.equal(await picker.count(), 0)
    const adding = page.getByRole('dialog', { name: 'Add a configuration of Local folder' })
    await adding.getByRole('textbox', { name: 'Name' }).fill('Customer A')
    await adding.getByRole('button', { name: 'Add configuration' }).click()
    await picker.waitFor()
    assert.equal(await picker.inputValue(), 'Customer A (not configured)')
    assert.deepEqual(await accessibilityViolations(page), [])
    const create = () => form.getByRole('button', { name: 'Create a connect link' }).click()
    await create()
    await page.getByRole('button', { name: 'I have copied the link' }).click()
    const { reply } = await stage.client.listConnectorConfigurations({ accountId: id })
    const [, added] = reply.map(({ configurationId }) => configurationId)
    const links = async () => (await stage.client.listConnectLinks({ accountId: id })).reply
    assert.deepEqual(
      (await links()).map(({ configurationIds }) => configurationIds),
      [[added]],
    )
    // One that is deleted meanwhile is named, and is not picked any more.
    await page.getByRole('button', { name: 'Create a connect link' }).first().click()
    await form.getByRole('combobox', { name: 'Connectors' }).click()
    await page.getByRole('option', { name: 'Local folder', exact: true }).click()
    await page.keyboard.press('Tab')
    await pick(picker, 'Customer A (not configured)')
    const query = { configurationId: added ?? assert.fail() }
    await stage.client.deleteConnectorConfiguration({ accountId: id, id: localFolder.id, query })
    await create()
    await form.getByText('is not a configuration of one of the connectors').waitFor()
    await picker.waitFor({ state: 'detached' })
    await create()
    await page.getByRole('button', { name: 'I have copied the link' }).click()
    assert.deepEqual((await links())[0]?.configurationIds, [])
  })
})
