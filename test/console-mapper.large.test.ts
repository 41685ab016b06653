import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { awkward, csvOf } from './harness/awkward.ts'
import { accessibilityViolations, type Look, pick, setLook, skip } from './harness/browser.ts'
import { type ConsoleStage, localFolder, startConsole } from './harness/console.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { until } from './harness/until.ts'

const audiences = connectorBySlug('meta-custom-audiences')
const conversions = connectorBySlug('meta-conversions')
const album = process.env.PENSTOCK_PICTURES

/** Types a character in the page, and returns how long it takes until the page is redrawn, in milliseconds. */
const typing = `async (text) => {
  const input = document.activeElement
  const before = performance.now()
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, input.value + text)
  input.dispatchEvent(new Event('input', { bubbles: true }))
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  return performance.now() - before
}`

const looks: readonly Look[] = [
  { width: 1440, height: 1000, theme: 'light' },
  { width: 1440, height: 1000, theme: 'dark' },
  { width: 390, height: 844, theme: 'light' },
  { width: 390, height: 844, theme: 'dark' },
]

describe('the mapping of columns', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
    await writeFile(join(stage.folder, 'awkward.csv'), csvOf(awkward))
    const wide = Object.fromEntries(
      Array.from({ length: 500 }, (_, n) => [n === 250 ? 'E-Mail-Adresse' : `Attribut ${n}`, [`a${n}@example.com`]]),
    )
    await writeFile(join(stage.folder, 'wide.csv'), csvOf(wide))
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const connect = async (name: string, { file = 'awkward.csv', destination = audiences, mapping = '' } = {}) => {
    const { id: accountId } = await stage.addAccount(name)
    await stage.addSides(accountId)
    await stage.client.addConnectors({ accountId, body: { connectorIds: [destination.id] } })
    const secretConfig =
      destination === audiences
        ? { authType: 'api-token', accessToken: 'canary' }
        : { clientId: '1', clientSecret: 'canary', accessToken: 'canary' }
    await stage.client.configureConnector({ accountId, id: destination.id, body: { secretConfig } })
    const { reply } = await stage.client.createConnection({
      accountId,
      body: {
        name,
        srcConnectorId: localFolder.id,
        destConnectorId: destination.id,
        srcConnectionConfig: { files: file },
        destConnectionConfig: {
          ...(destination === audiences ? { advertiserId: '1' } : { datasetId: '1' }),
          ...(mapping && { mapping }),
        },
      },
    })
    return {
      accountId,
      id: reply.id,
      path: `/accounts/${accountId}/connections/new?connection=${reply.id}&step=mapping`,
    }
  }
  const newAudience = (page: Page) => page.getByRole('radio', { name: 'A new audience' }).click()
  const rowOf = (page: Page, field: string) => page.locator(`[data-mapper-row="${field}"]`)
  const mappingOf = async ({ accountId, id }: { accountId: string; id: string }) => {
    const { reply } = await stage.client.getConnection({ accountId, id })
    return JSON.parse(String(reply.destConnectionConfig.mapping)) as Record<string, unknown>
  }

  test('proposes what sixty awkward columns are for, shows values before and after, and writes it down', async () => {
    const connection = await connect('Sixty')
    const page = await stage.open(connection.path)
    await rowOf(page, 'email_sha256').getByText('matched by name').waitFor()
    await rowOf(page, 'email_sha256').getByText('Mila.Brandt@Example.com').waitFor()
    await rowOf(page, 'email_sha256').getByText('1 of 3 cannot be used').waitFor()
    await rowOf(page, 'email_sha256').getByText('not sent').waitFor()
    await newAudience(page)
    await page.getByText('3 would be sent').waitFor()
    for (const [at, look] of looks.entries()) await shoot(page, `mapper-audience-${at}`, look)
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await page.getByRole('region', { name: 'Activation' }).waitFor()
    const mapping = await mappingOf(connection)
    assert.deepEqual(mapping.action, { value: 'add' })
    assert.equal(mapping.email_sha256, 'E-Mail Address')
    assert.equal(mapping.fname_sha256, 'Vorname')
    assert.equal(mapping.dobd_sha256, null)
  })

  test('asks what only the user knows about events, in words, and each answer is a click', async () => {
    const connection = await connect('Events', { destination: conversions })
    const page = await stage.open(connection.path)
    const time = rowOf(page, 'event_time')
    await time.getByText('3 of 3 cannot be used').waitFor()
    const source = rowOf(page, 'action_source')
    await source.getByText('Pick the value for all records, or a column.').waitFor()
    await page.getByText('Decide the 2 fields that need you, then preview.').waitFor()
    assert.equal((await page.locator('main').innerText()).includes('{"'), false)
    for (const [at, look] of looks.entries()) await shoot(page, `mapper-events-${at}`, look)
    await setLook(page, looks[0] as Look)
    await source.getByRole('button', { name: 'Website', exact: true }).click()
    await page.getByLabel('What is each record?', { exact: true }).fill('Purchase')
    await page.getByText('Nothing is left to decide').waitFor({ state: 'attached' })
    await time.getByRole('button', { name: /^Time zone / }).click()
    await time.getByText('All values fit').waitFor()
    const value = rowOf(page, 'value')
    await value.getByText('1.001,50', { exact: true }).waitFor()
    await value.getByRole('button', { name: /^Use a decimal comma \(as in / }).click()
    await value.getByText(/decimal comma$/).waitFor()
    await value.getByRole('button', { name: /^Use a decimal comma/ }).waitFor({ state: 'detached' })
    // Invalid values of the currency, which are mapped one by one.
    const currency = rowOf(page, 'currency')
    await currency.getByRole('button', { name: 'Options of Currency' }).click()
    await currency.getByLabel('Value for empty cells').fill('EUR')
    await currency.getByRole('button', { name: 'Add a value' }).click()
    await currency.getByLabel('Value in the source').fill('franken')
    await currency.getByLabel('Stands for').fill('CHF')
    await currency.getByText('matched by name · if empty, EUR · 1 value replaced').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await page.getByRole('region', { name: 'Activation' }).waitFor()
    const mapping = await mappingOf(connection)
    assert.deepEqual(mapping.event_name, { value: 'Purchase' })
    assert.deepEqual(mapping.action_source, { value: 'website' })
    assert.deepEqual(mapping.currency, { column: 'Währung', default: 'EUR', values: { franken: 'CHF' } })
    assert.equal(Object(mapping.event_time).column, 'Bestelldatum')
    assert.equal(typeof Object(mapping.event_time).timezone, 'string')
  })

  test('removes people by a column: its values stand for what happens, and an empty one has a default', async () => {
    const connection = await connect('Actions')
    const page = await stage.open(connection.path)
    await rowOf(page, 'email_sha256').waitFor()
    await page.getByRole('radio', { name: 'Add', exact: true, checked: true }).waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'What happens to these people? By a column' }).click()
    await page.getByRole('combobox', { name: 'Source of Action' }).first().click()
    await page.getByRole('combobox', { name: 'Search columns for Action' }).fill('werbe')
    await page.getByRole('option', { name: /^Werbesperre/ }).click()
    const action = rowOf(page, 'action')
    await action.getByText('3 of 3 cannot be used').waitFor()
    await action.getByRole('button', { name: 'Options of Action' }).click()
    for (const [at, [from, to]] of [
      ['nein', 'add'],
      ['ja', 'remove'],
    ].entries()) {
      await action.getByRole('button', { name: 'Add a value' }).click()
      await action
        .getByLabel('Value in the source')
        .nth(at)
        .fill(from ?? '')
      await pick(action.getByRole('combobox', { name: 'Stands for' }).nth(at), to ?? '')
    }
    await action.getByText('All values fit').waitFor()
    await page.getByRole('radio', { name: 'By its name' }).click()
    await page.getByRole('textbox', { name: 'Audience name' }).fill('Winter sale')
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await page.getByRole('region', { name: 'Activation' }).waitFor()
    const mapping = await mappingOf(connection)
    assert.deepEqual(mapping.action, { column: 'Werbesperre', values: { nein: 'add', ja: 'remove' } })
    assert.deepEqual(mapping.segment_name, { value: 'Winter sale' })
  })

  test('says what is wrong with a saved mapping at its field alone, and keeps what it does not show', async () => {
    const saved = {
      action: { value: 'add' },
      email_sha256: 'Gone',
      phone_sha256: { column: 'Handynummer', values: { none: null } },
      city_sha256: null,
    }
    const connection = await connect('Saved', { mapping: JSON.stringify(saved) })
    const page = await stage.open(connection.path)
    const email = rowOf(page, 'email_sha256')
    await email.getByText('The source has no column “Gone”. Pick another one.').waitFor()
    await rowOf(page, 'phone_sha256').getByText('matched by name · 1 value replaced').waitFor()
    // The others still show their values.
    await rowOf(page, 'phone_sha256').getByText(/^\+43/).waitFor()
    await email.getByRole('button', { name: 'Use E-Mail Address for E-mail' }).click()
    await email.getByText('matched by name').waitFor()
    // A column that no transfer took before is only suggested, also if its name is clear.
    await rowOf(page, 'state_sha256').getByRole('button', { name: 'Use Bundesland/Province for State' }).waitFor()
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await page.getByRole('region', { name: 'Activation' }).waitFor()
    const mapping = await mappingOf(connection)
    assert.deepEqual(mapping.phone_sha256, saved.phone_sha256)
    assert.deepEqual([mapping.email_sha256, mapping.city_sha256, mapping.state_sha256], ['E-Mail Address', null, null])
  })

  test('fills a field with an expression, and filters records, with a check while they are typed', async () => {
    const connection = await connect('Expressions')
    const page = await stage.open(connection.path)
    await newAudience(page)
    const city = rowOf(page, 'city_sha256')
    await city.getByRole('combobox', { name: 'Source of City' }).click()
    await page.getByRole('option', { name: /^Expression/ }).click()
    const expression = city.getByRole('textbox', { name: 'Expression for City' })
    assert.equal(await expression.inputValue(), 'row.Ort')
    await expression.fill('')
    await city.getByText('Enter the expression.').waitFor()
    await expression.fill('uper(Ort)')
    await city.getByText('The expression has no function uper. Did you mean upper?').waitFor()
    await city.getByRole('button', { name: 'Use upper' }).click()
    assert.equal(await expression.inputValue(), 'upper(Ort)')
    await expression.fill('row["Ort"].upper()')
    await city.getByText('made by an expression').waitFor()
    await city.getByText('All values fit').waitFor()
    const filter = page.getByRole('textbox', { name: 'Filter records' })
    await filter.fill('Orrt != ""')
    await page.getByText('The expression has no column Orrt. Did you mean Ort?').waitFor()
    await filter.fill('Ort == "nowhere"')
    // The page moved, and a tooltip of what is now below the mouse is in no landmark.
    await page.mouse.move(0, 0)
    await page.getByRole('tooltip').waitFor({ state: 'detached' })
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByText('3 left out by the filter').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Preview/ }).click()
    await page.getByText('3 left out by the filter').waitFor()
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await page.getByRole('region', { name: 'Activation' }).waitFor()
    const { reply } = await stage.client.getConnection(connection)
    assert.equal(reply.destConnectionConfig.filter, 'Ort == "nowhere"')
    assert.deepEqual((await mappingOf(connection)).city_sha256, { expression: 'row["Ort"].upper()' })
    await page.getByText('Ort == "nowhere"').waitFor()
  })

  test('needs the keyboard alone', async () => {
    const connection = await connect('Keys', { destination: conversions })
    const page = await stage.open(connection.path)
    await rowOf(page, 'event_time').getByText('3 of 3 cannot be used').waitFor()
    const focused = async () => page.evaluate<string>('document.activeElement.dataset.mapperField ?? ""')
    await page.getByRole('combobox', { name: 'Source of E-mail', exact: true }).focus()
    await page.keyboard.press('n')
    assert.equal(await focused(), 'event_name')
    await page.keyboard.type('Purchase')
    await page.getByRole('combobox', { name: 'Source of E-mail', exact: true }).focus()
    await page.keyboard.press('Shift+N')
    assert.equal(await focused(), 'action_source')
    await page.keyboard.press('=')
    await page
      .getByRole('combobox', { name: 'Search columns for Where it happened' })
      .and(page.locator(':focus'))
      .waitFor()
    await page.keyboard.type('web')
    await page.keyboard.press('Enter')
    await rowOf(page, 'action_source').getByText('for all records').waitFor()
    await page.getByRole('combobox', { name: 'Source of E-mail', exact: true }).focus()
    await page.keyboard.press('ArrowDown')
    assert.equal(await focused(), 'phone')
    await page.keyboard.press('Enter')
    await page.getByRole('combobox', { name: 'Search columns for Phone number' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('gesch')
    await page.keyboard.press('Enter')
    await rowOf(page, 'phone').getByText('chosen').waitFor()
    assert.equal(await focused(), 'phone')
    await page.keyboard.press('d')
    await rowOf(page, 'phone').getByLabel('Value for empty cells').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('+43664')
    await rowOf(page, 'phone').getByText('if empty, +43664').waitFor()
    await page.getByRole('combobox', { name: 'Source of E-mail', exact: true }).focus()
    await page.keyboard.press('/')
    await page.getByRole('textbox', { name: 'Search fields and columns' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('Währung')
    await rowOf(page, 'email').waitFor({ state: 'detached' })
    await rowOf(page, 'currency').waitFor()
  })

  test('stays quick with 500 columns', async () => {
    const connection = await connect('Wide', { file: 'wide.csv' })
    const page = await stage.open(connection.path)
    await rowOf(page, 'email_sha256').getByText('matched by name').waitFor()
    await page.getByRole('button', { name: 'Show 449 more' }).waitFor()
    await newAudience(page)
    for (const [at, look] of looks.entries()) if (at % 2 === 0) await shoot(page, `mapper-wide-${at}`, look)
    await setLook(page, looks[0] as Look)
    await page.getByText('would be rejected').waitFor()
    const search = page.getByRole('textbox', { name: 'Search columns and values' })
    await search.click()
    const times: number[] = []
    for (const key of 'attribut 49') {
      times.push(await page.evaluate<number>(`(${typing})(${JSON.stringify(key)})`))
    }
    await page.getByRole('list', { name: 'Columns not used' }).getByText('Attribut 499').waitFor()
    const [median = 0] = times.sort((a, b) => a - b).slice(Math.floor(times.length / 2))
    assert.ok(median < 150, `${times.map(Math.round)} ms`)
    await rowOf(page, 'email_sha256').getByRole('combobox').click()
    await page.getByText('500 of 500 columns').waitFor()
    await page.getByRole('combobox', { name: 'Search columns for E-mail' }).fill('attribut 312')
    await page.getByRole('option', { name: /^Attribut 312/ }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  async function shoot(page: Page, name: string, look: Look): Promise<void> {
    await setLook(page, look)
    const fits = () => page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth')
    await until(`${name} is not wider than the screen`, fits)
    if (album) await page.screenshot({ path: join(album, `${name}.png`), fullPage: true })
    assert.deepEqual(await accessibilityViolations(page), [], name)
  }
})
