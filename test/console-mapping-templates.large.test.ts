import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { csvOf } from './harness/awkward.ts'
import { accessibilityViolations, type Look, setLook, skip } from './harness/browser.ts'
import { type ConsoleStage, localFolder, startConsole } from './harness/console.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { until } from './harness/until.ts'

const audiences = connectorBySlug('meta-custom-audiences')
const webhook = connectorBySlug('webhook')
const conversions = connectorBySlug('meta-conversions')
const album = process.env.PENSTOCK_PICTURES

const looks: readonly Look[] = [
  { width: 1440, height: 1000, theme: 'light' },
  { width: 390, height: 844, theme: 'dark' },
]
const first = { 'E-Mail Address': ['a@example.com'], Filiale: ['Wien'], Handynummer: ['+43664123456'], Rest: ['x'] }
const second = { e_mail_address: ['b@example.com'], mobile: ['+43664654321'], Land: ['AT'] }
const events = {
  data_set_id: ['shop'],
  id: ['e-1'],
  timestamp: [String(Math.floor(Date.now() / 1000) - 60)],
  event_type: ['purchase'],
  source: ['website'],
  value: ['22.5'],
  currency_code: ['EUR'],
  'user_data.email_address': ['a@example.com'],
  'user_data.age_range': ['2'],
}
const template = {
  email_sha256: 'E-Mail Address',
  phone_sha256: 'Handynummer',
  city_sha256: 'Filiale',
  action: { value: 'add' },
  segment_name: { value: 'Winter sale' },
}

describe('mapping templates', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
    await writeFile(join(stage.folder, 'first.csv'), csvOf(first))
    await writeFile(join(stage.folder, 'second.csv'), csvOf(second))
    await writeFile(join(stage.folder, 'events.csv'), csvOf(events))
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const addAccount = async (name: string) => {
    const { id: accountId } = await stage.addAccount(name)
    await stage.addSides(accountId)
    await stage.client.addConnectors({ accountId, body: { connectorIds: [audiences.id, webhook.id] } })
    const meta = { authType: 'api-token', accessToken: 'canary' }
    await stage.client.configureConnector({ accountId, id: audiences.id, body: { secretConfig: meta } })
    const receiver = { url: 'http://127.0.0.1:1/', signingSecret: 'whsec_Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5' }
    await stage.client.configureConnector({ accountId, id: webhook.id, body: { secretConfig: receiver } })
    return accountId
  }
  const connect = async (accountId: string, file: string, mapping = {}, destination = audiences) => {
    const { reply } = await stage.client.createConnection({
      accountId,
      body: {
        name: `People of ${file}`,
        srcConnectorId: localFolder.id,
        destConnectorId: destination.id,
        srcConnectionConfig: { files: file },
        destConnectionConfig: {
          ...(destination === audiences && { advertiserId: '1' }),
          ...(destination === conversions && { datasetId: '1' }),
          ...(Object.keys(mapping).length > 0 && { mapping: JSON.stringify(mapping) }),
        },
      },
    })
    const { id } = reply
    return { accountId, id, path: `/accounts/${accountId}/connections/new?connection=${id}&step=mapping` }
  }
  const rowOf = (page: Page, field: string) => page.locator(`[data-mapper-row="${field}"]`)
  const menu = (page: Page) => page.getByRole('button', { name: 'Templates', exact: true })
  const choose = async (page: Page, item: string) => {
    await menu(page).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  const mappingOf = async ({ accountId, id }: { accountId: string; id: string }) => {
    const { reply } = await stage.client.getConnection({ accountId, id })
    return JSON.parse(String(reply.destConnectionConfig.mapping)) as Record<string, unknown>
  }
  async function look(page: Page, name: string): Promise<void> {
    for (const [at, one] of looks.entries()) {
      await setLook(page, one)
      const fits = () => page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth')
      await until(`${name} is not wider than the screen`, fits)
      if (album) await page.screenshot({ path: join(album, `${name}-${at}.png`) })
      assert.deepEqual(await accessibilityViolations(page), [], name)
    }
    await setLook(page, looks[0] as Look)
  }

  test('are saved from a mapping, without the values of one connection, and applied to another source by the keyboard', async () => {
    const accountId = await addAccount('Templates')
    const page = await stage.open((await connect(accountId, 'first.csv', template)).path)
    await rowOf(page, 'email_sha256').getByText('All values fit').waitFor()
    await choose(page, 'Save as template…')
    const dialog = page.getByRole('dialog', { name: 'Save as template' })
    await dialog.getByLabel('Name').fill('Members')
    await dialog.getByText('Audience name: Winter sale').waitFor()
    await look(page, 'template-save')
    await dialog.getByRole('checkbox', { name: 'Include constant values' }).uncheck()
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Template Members was saved').waitFor()
    const { reply } = await stage.client.listMappingTemplates({ accountId })
    assert.deepEqual(
      reply.map(({ name, fields, accountId: of }) => [name, fields, of]),
      [['Members', 3, accountId]],
    )

    const other = await connect(accountId, 'second.csv')
    await page.goto(other.path)
    await rowOf(page, 'email_sha256').waitFor()
    await menu(page).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Apply a template…' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('combobox', { name: 'Search templates' }).and(page.locator(':focus')).waitFor()
    await page.getByRole('option', { name: /^Members/ }).waitFor()
    await look(page, 'template-pick')
    await page.keyboard.type('memb')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    const apply = page.getByRole('dialog', { name: 'Members' })
    await apply.getByText('The template maps “Filiale”, which this source does not have.').waitFor()
    await apply.getByText('Changes', { exact: false }).first().waitFor()
    await look(page, 'template-apply')
    await apply.getByRole('button', { name: 'Apply', exact: true }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    const applied = page.getByRole('status').filter({ hasText: '“Members” was applied' })
    await applied.getByText('City is not mapped.').waitFor()
    await menu(page).and(page.locator(':focus')).waitFor()
    await rowOf(page, 'phone_sha256').getByText('All values fit').waitFor()
    await look(page, 'template-applied')
    await page.getByRole('radio', { name: 'A new audience' }).click()
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await page.getByRole('region', { name: 'Activation' }).waitFor()
    const mapping = await mappingOf(other)
    assert.deepEqual(
      [mapping.email_sha256, mapping.phone_sha256, mapping.city_sha256, mapping.country_code_sha256],
      ['e_mail_address', 'mobile', null, null],
    )
    assert.deepEqual([mapping.action, mapping.segment_name], [{ value: 'add' }, null])
  })

  test('a source with the columns of ECAPI is mapped with one button, which first says what is not sent', async () => {
    const accountId = await addAccount('Standard')
    await stage.client.addConnectors({ accountId, body: { connectorIds: [conversions.id] } })
    const token = { clientId: '1', clientSecret: 'canary', accessToken: 'canary' }
    await stage.client.configureConnector({ accountId, id: conversions.id, body: { secretConfig: token } })
    const conversion = await connect(accountId, 'events.csv', {}, conversions)
    const page = await stage.open(conversion.path)
    await page.getByRole('button', { name: 'Map as ECAPI 1.0' }).click()
    const dialog = page.getByRole('dialog', { name: 'ECAPI 1.0' })
    await dialog.getByText('user_data.age_range: Meta Conversions does not accept it.').waitFor()
    await look(page, 'template-standard')
    await dialog.getByRole('button', { name: 'Apply', exact: true }).click()
    const applied = page.getByRole('status').filter({ hasText: '“ECAPI 1.0” was applied' })
    await applied.getByText('user_data.age_range: Meta Conversions does not accept it.').waitFor()
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await page.getByRole('region', { name: 'Activation' }).waitFor()
    const mapping = await mappingOf(conversion)
    assert.deepEqual([mapping.event_time, mapping.event_id], ['timestamp', 'id'])
    await page.goto(conversion.path)
    await choose(page, 'Rename or delete…')
    await page.getByText('No templates for this destination yet.').waitFor()
  })

  test('are undone, replaced, renamed and deleted, in the mapping of a connection that is there', async () => {
    const accountId = await addAccount('Existing')
    const saved = { action: { value: 'add' }, email_sha256: 'e_mail_address' }
    const connection = await connect(accountId, 'second.csv', saved)
    const content = { destConnectorId: audiences.id, mapping: JSON.stringify({ ...template, email_sha256: null }) }
    await stage.client.createMappingTemplate({ body: { name: 'Shared one', accountId: null, ...content } })
    const page = await stage.open(connection.path)
    await rowOf(page, 'email_sha256').getByText('All values fit').waitFor()
    await choose(page, 'Apply a template…')
    await page.getByRole('option', { name: 'Shared one shared · 4 fields' }).click()
    await page.getByRole('dialog').getByText('Always “Winter sale”').waitFor()
    await page.getByRole('button', { name: 'Apply', exact: true }).click()
    await rowOf(page, 'email_sha256').getByText('matched by name').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await rowOf(page, 'email_sha256').getByText('matched by name').waitFor()
    assert.equal(await page.getByText('was applied').count(), 0)
    await menu(page).and(page.locator(':focus')).waitFor()

    await choose(page, 'Save as template…')
    const dialog = page.getByRole('dialog', { name: 'Save as template' })
    await dialog.getByRole('combobox', { name: 'Template' }).click()
    await page.getByRole('option', { name: 'Shared one' }).click()
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Template Shared one was saved').waitFor()
    const [one] = (await stage.client.listMappingTemplates({ accountId })).reply
    const { reply } = await stage.client.getMappingTemplate({ id: one?.id ?? '' })
    assert.equal(JSON.parse(reply.mapping).email_sha256, 'e_mail_address')

    await choose(page, 'Rename or delete…')
    await page.getByRole('textbox', { name: 'Name: Shared one' }).fill('Renamed')
    await page.getByRole('button', { name: 'Rename Shared one' }).click()
    await page.getByRole('button', { name: 'Delete Renamed' }).waitFor()
    await look(page, 'template-manage')
    await page.getByRole('button', { name: 'Delete Renamed' }).click()
    await page.getByText('No templates for this destination yet.').waitFor()
    assert.deepEqual((await stage.client.listMappingTemplates({ accountId })).reply, [])
    // Deleting it can be undone, too.
    await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Delete Renamed' }).waitFor()
  })

  test('leave a line open if a destination that takes any columns would lack it', async () => {
    const accountId = await addAccount('Any columns')
    const mapping = '{"mail": {"column": "E-Mail Address", "normalise": "email"}, "shop": "Filiale"}'
    await stage.client.createMappingTemplate({
      body: { name: 'Rows', accountId, destConnectorId: webhook.id, mapping },
    })
    const page = await stage.open((await connect(accountId, 'second.csv', {}, webhook)).path)
    await page.getByText('e_mail_address', { exact: true }).first().waitFor()
    await choose(page, 'Apply a template…')
    await page.getByRole('option', { name: /^Rows/ }).click()
    await page.getByRole('button', { name: 'Apply', exact: true }).click()
    await page.getByRole('textbox', { name: 'Sent as, column 2' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Save and continue' }).isDisabled(), true)
    await page.getByRole('button', { name: 'Remove shop' }).click()
    assert.equal(await page.getByRole('button', { name: 'Save and continue' }).isEnabled(), true)
  })
})
