import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { pick, skip } from './harness/browser.ts'
import {
  type ConsoleStage,
  pickValue,
  postgresql,
  preparePeople,
  seeSentColumns,
  signIn,
  startConsole,
} from './harness/console.ts'
import { large } from './harness/tiers.ts'
import { until } from './harness/until.ts'

describe('the first connection, in the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
    await preparePeople(stage, 30)
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const rowsOf = async (table: string): Promise<number> =>
    Number((await stage.target.query(`select count(*) as n from ${table}`)).rows[0].n)

  test('leads from the first sign-in to the first delivered row by clicking and typing', async () => {
    await stage.target.query('create table first (id integer primary key, person text, email text)')
    const page = await stage.open('/accounts', { signedIn: false })
    await signIn(page, stage.credentials)
    await page.getByRole('button', { name: 'Add a sub-account' }).first().click()
    await page.getByRole('dialog').getByLabel('Name').fill('First brand')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'First brand' }).click()
    await page.getByRole('heading', { name: 'First brand' }).waitFor()
    const accountId = new URL(page.url()).pathname.split('/')[2] ?? ''
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Connections' }).click()
    await page.getByRole('heading', { level: 1, name: 'Connections' }).waitFor()
    await page.getByRole('link', { name: 'New connection' }).first().click()

    await page.getByLabel('Search sources').fill('folder')
    await page.getByRole('button', { name: /^Local folder/ }).click()
    await page.getByText('destination for the data of Local folder').waitFor()
    await page.getByRole('button', { name: /^PostgreSQL/ }).click()

    await page.getByRole('button', { name: 'Configure Local folder' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Folder' }).fill(stage.folder)
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Change the configuration of Local folder' }).waitFor()
    await page.getByRole('button', { name: 'Configure PostgreSQL' }).click()
    await fillSecrets(page, stage.targetSecrets)
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Change the configuration of PostgreSQL' }).waitFor()

    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('First connection')
    await pickValue(region(page, 'Source'), 'Files', 'people.csv')
    await pickValue(region(page, 'Destination'), 'Table', 'first')
    await page.getByRole('button', { name: 'Create the connection' }).click()

    await seeSentColumns(page, ['id', 'name', 'email'])
    await page.getByText('30 would be sent').waitFor()
    await page.getByText('Selected columns').click()
    await page.getByRole('textbox', { name: 'Sent as, column 2' }).fill('person')
    await page.getByRole('button', { name: 'Preview this mapping' }).click()
    await page.getByRole('columnheader', { name: 'person' }).waitFor()
    await page.getByRole('button', { name: 'Save and continue' }).click()

    await page.getByRole('button', { name: 'Activate and run' }).click()
    await becomeActive(page)
    await until('the rows are there', async () => (await rowsOf('first')) === 30)
    const { rows } = await stage.target.query('select person, email from first where id = 1')
    assert.deepEqual(rows, [{ person: 'Person 1', email: 'p1@example.com' }])
    assert.equal(await page.evaluate((id) => sessionStorage.getItem(`penstock.new-connection.${id}`), accountId), null)
  })

  test('leads from the first sign-in to the first delivered row by the keyboard alone', large, async () => {
    await stage.target.query('create table keyed (id integer primary key, name text, email text)')
    const page = await stage.open('/accounts', { signedIn: false })
    const keys = keysOf(page)
    await keys.press('button', 'Sign in with client credentials')
    await page.getByLabel('Client ID').and(page.locator(':focus')).waitFor()
    await page.keyboard.type(stage.credentials.clientId)
    await page.keyboard.press('Tab')
    await page.keyboard.type(stage.credentials.clientSecret)
    await page.keyboard.press('Enter')
    await keys.press('button', 'Add a sub-account')
    await page.getByRole('dialog').getByLabel('Name').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('Keyed brand')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await keys.press('link', 'Keyed brand')
    await page.getByRole('heading', { name: 'Keyed brand' }).waitFor()
    await keys.press('link', 'Connections')
    await page.getByRole('heading', { level: 1, name: 'Connections' }).waitFor()
    await keys.press('link', 'New connection')

    await keys.press('button', /^Local folder/)
    await keys.press('button', /^PostgreSQL/)
    await keys.press('button', 'Configure Local folder')
    await keys.type('Folder', stage.folder)
    // The first button of the form saves and checks.
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('Check passed').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await keys.press('button', 'Configure PostgreSQL')
    const { host, port, database, user, password } = stage.targetSecrets
    for (const [label, value] of [
      ['Host', host],
      ['Port', port],
      ['Database', database],
      ['User', user],
      ['Password', password],
    ] as const) {
      await keys.type(label, String(value))
    }
    await keys.pick('TLS mode', 'Off')
    await keys.press('button', 'Save')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await keys.pickValue('Files', 'peop')
    await keys.pickValue('Table', 'keye')
    await keys.press('button', 'Create the connection')
    await page.getByText('30 would be sent').waitFor()
    await keys.press('button', 'Continue to review')
    await keys.press('button', 'Activate and run')
    await becomeActive(page)
    await until('the rows are there', async () => (await rowsOf('keyed')) === 30)
  })
})

/** The card of one side. */
const region = (page: Page, side: 'Source' | 'Destination') =>
  page.getByRole('region', { name: new RegExp(`^${side}: `) })
/**
 * Waits for the page of the connection, which shows the transfer. Confirms the activation if the machine is too busy for a
 * preview in time. Otherwise fails with the text of the page.
 */
async function becomeActive(page: Page): Promise<void> {
  const shown = page.getByRole('region', { name: 'Source and destination' })
  const anyway = page.getByRole('button', { name: 'Activate and run anyway' })
  try {
    await shown.or(anyway).first().waitFor()
    if (await anyway.isVisible()) {
      await page.getByRole('dialog').getByText('did not answer within').first().waitFor()
      await anyway.click()
    }
    await page.waitForURL(/\/connections\/[^/?]+$/)
  } catch (cause) {
    throw new Error(`The connection is not active on this page:\n${await page.locator('body').innerText()}`, { cause })
  }
}

/** Fills the form of PostgreSQL's configuration in the drawer that is open. */
async function fillSecrets(page: Page, secrets: Readonly<Record<string, string | number>>): Promise<void> {
  const drawer = page.getByRole('dialog')
  for (const [key, value] of Object.entries(secrets)) {
    const { label = '', type, labels = {} } = postgresql.secrets[key] ?? {}
    if (type === 'Select') {
      await pick(drawer.getByRole('combobox', { name: label }), labels[String(value)] ?? String(value))
    } else if (type === 'Password') await drawer.locator('input[type=password]').first().fill(String(value))
    else await drawer.getByRole('textbox', { name: label }).fill(String(value))
  }
}

/** Actions with only the keyboard. */
function keysOf(page: Page) {
  const stepsMax = 200
  const focusOn = async (control: Locator) => {
    await control.first().waitFor()
    for (let step = 0; step < stepsMax; step++) {
      if ((await control.and(page.locator(':focus')).count()) > 0) return
      await page.keyboard.press('Tab')
    }
    assert.fail(`Tab never reaches ${control}`)
  }
  return {
    /** Goes to a control by Tab, and presses it. */
    press: async (role: 'button' | 'link', name: string | RegExp) => {
      await focusOn(page.getByRole(role, { name, exact: true }))
      await page.keyboard.press('Enter')
    },
    type: async (label: string, text: string) => {
      const scope = (await page.getByRole('dialog').count()) > 0 ? page.getByRole('dialog') : page
      await focusOn(
        scope
          .getByRole('textbox', { name: label, exact: true })
          .or(scope.getByLabel(label).and(page.locator('input[type=password]'))),
      )
      await page.keyboard.press('Control+A')
      await page.keyboard.type(text)
    },
    /** Searches the list of a setting for a text, and picks the first value. */
    pickValue: async (label: string, text: string) => {
      await focusOn(page.getByRole('combobox', { name: label, exact: true }))
      await page.keyboard.press('Enter')
      await page
        .getByRole('combobox', { name: /^Search: / })
        .and(page.locator(':focus'))
        .waitFor()
      await page.keyboard.type(text)
      await page.getByText('1 found').waitFor()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.getByRole('combobox', { name: label, exact: true }).and(page.locator(':focus')).waitFor()
    },
    /** Picks an option by the arrow keys. */
    pick: async (label: string, option: string) => {
      await focusOn(page.getByRole('combobox', { name: label }))
      await page.keyboard.press('ArrowDown')
      await page.getByRole('option', { name: option, exact: true }).waitFor()
      const marked = page.locator('[role=option][data-combobox-selected]')
      for (let step = 0; step < stepsMax; step++) {
        if ((await marked.count()) > 0 && (await marked.textContent()) === option) break
        await page.keyboard.press('ArrowDown')
      }
      await page.keyboard.press('Enter')
    },
  }
}
