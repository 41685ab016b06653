/**
 * Every dialog, drawer and menu of the console: axe-core finds nothing at each size and in both themes, nothing is wider than
 * the window, the focus goes in and back to what opened it, and Escape closes it.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, type Look, setLook, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'
import { prepareScene } from './harness/console-scene.ts'
import type { Dialog, DialogScene } from './harness/dialog-steps.ts'
import { dialogs, prepareDialogs } from './harness/dialogs.ts'
import { until } from './harness/until.ts'

const sources = join(import.meta.dirname, '../packages/console/src')
const album = process.env.PENSTOCK_PICTURES
const looks: readonly Look[] = [
  { width: 1440, height: 900, theme: 'light' },
  { width: 1440, height: 900, theme: 'dark' },
  { width: 390, height: 844, theme: 'dark' },
  { width: 390, height: 844, theme: 'light' },
]
/** Components that open above a page. */
const openers =
  /<(?:Modal|Modal\.Root|Drawer|Drawer\.Root|Confirm|ConfirmWrite|FormDialog|ShownOnce|Menu|ActionsMenu|Popover|Activate)\b/

/** Stores the elements that had the focus, outside of lists and menus. */
const followFocus = `
  globalThis.focused = []
  document.addEventListener('focusin', ({ target }) => {
    if (!target.closest('[role=menu], [role=listbox]')) globalThis.focused.push(target)
  })
`

/** Whether the focus is in a dialog, and in its first field if it has any. Stores the element that opened it. */
const focusInside = `globalThis.focusInside = (dialog) => {
  const now = document.activeElement
  const fields = 'input:not([type=hidden]), textarea, select, [role=combobox]'
  const hasField = dialog.querySelector('form') && [...dialog.querySelectorAll(fields)].some((each) => each.checkVisibility() && !each.disabled)
  const opener = globalThis.focused.findLast((each) => !dialog.contains(each))
  const nameOf = (each) => each.outerHTML.slice(0, 200)
  globalThis.focusAfter = () => {
    const after = document.activeElement
    if (after === opener) return ''
    if (after === document.body) return 'the focus is nowhere afterwards'
    return opener?.isConnected ? 'the focus is not back at ' + nameOf(opener) + ', but at ' + nameOf(after) : ''
  }
  if (!dialog.contains(now)) return ['the focus is not in it: ' + nameOf(now)]
  return hasField && !now.matches(fields) ? ['the focus is not in a field: ' + nameOf(now)] : []
}`

const callFocusInside = (dialog: unknown): string[] =>
  (globalThis as unknown as { focusInside(dialog: unknown): string[] }).focusInside(dialog)

test('every dialog of the console is in the list', () => {
  const files = globSync('**/*.tsx', { cwd: sources }).filter((file) =>
    openers.test(readFileSync(join(sources, file), 'utf8')),
  )
  const named = new Set(dialogs.flatMap(({ of }) => of))
  const inOtherTests = [
    // It closes when its transfer ends.
    'screens/connection/active-transfer.tsx',
    // They need a database whose changes are read: console-change-log.large.test.ts opens them.
    'screens/connection/change-log.tsx',
    'screens/connection/copy-again.tsx',
    // It needs a connection with many tables: console-many-tables.large.test.ts opens it.
    'screens/connection/tables.tsx',
    'screens/start/moved-sample.tsx',
    'screens/sign-in-settings/single-sign-on-card.tsx',
  ]
  assert.deepEqual(
    files.filter((file) => !named.has(file) && !inOtherTests.includes(file)),
    [],
    'add them to test/harness/dialogs.ts',
  )
  assert.deepEqual(
    [...named].filter((file) => !files.includes(file)),
    [],
    'they open nothing any more',
  )
})

describe('dialogs of the console', { skip }, () => {
  let stage: ConsoleStage
  let scene: DialogScene
  let person: Page | undefined
  before(async () => {
    stage = await startConsole({ PENSTOCK_RETRY_SECONDS: '1' })
    scene = await prepareDialogs(stage, await prepareScene(stage))
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const pageOf = async ({ as, path }: Dialog): Promise<Page> => {
    const page = as === 'person' ? await signedIn(stage) : await stage.open('/accounts')
    await page.addInitScript(followFocus)
    await page.addInitScript(focusInside)
    await page.goto(path(scene))
    return page
  }

  for (const one of dialogs) {
    test(one.name, async () => {
      const page = await pageOf(one)
      page.setDefaultTimeout(15_000)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      await one.open(page)
      const shown = page.getByRole(one.kind ?? 'dialog').last()
      await shown.waitFor()
      const problems = await shown.evaluate(callFocusInside)
      const inspect = async () => {
        for (const look of looks) {
          await setLook(page, look)
          await page.waitForLoadState('networkidle')
          const at = `${look.width} ${look.theme}`
          if (album)
            await page.screenshot({
              path: join(album, `${one.name.replaceAll(' ', '-')}-${look.width}-${look.theme}.png`),
            })
          await page.evaluate('Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {})))')
          problems.push(...(await settledOverflow(page)).map((problem) => `${at}: ${problem}`))
          // The page behind it is the same as without it.
          const within = look === looks[0] ? undefined : '[role=dialog], [role=menu], [role=listbox]'
          problems.push(...(await accessibilityViolations(page, within)).map((problem) => `${at}: ${problem}`))
        }
        if (looks[0]) await setLook(page, looks[0])
      }
      if (!one.floats) await inspect()
      await page.keyboard.press('Escape')
      if (one.stays) {
        assert(await shown.isVisible(), 'Escape closes it')
        await shown.getByRole('button').last().click()
      }
      await shown.waitFor({ state: 'hidden', timeout: 5_000 }).catch(() => problems.push('Escape does not close it'))
      const back = () => page.evaluate<string>('globalThis.focusAfter()')
      await until('the focus is back', async () => (await back()) === '', 2_000).catch(async () =>
        problems.push(await back()),
      )
      if (one.floats) {
        await one.open(page)
        await shown.waitFor()
        await inspect()
      }
      assert.deepEqual(problems, [])
    })
  }

  /** A page of someone who is signed in with a password, and at another device. */
  async function signedIn(of: ConsoleStage): Promise<Page> {
    const page = await of.open(person ? '/sign-in' : await of.firstLink(), { signedIn: false })
    const password = 'a sentence of its own kind'
    await page.getByRole('textbox', { name: 'E-mail address' }).fill('ada@example.com')
    if (person) {
      await page.locator('input[type=password]').fill(password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    } else {
      await page.getByRole('textbox', { name: 'Your name' }).fill('Ada Lopez')
      await page.locator('input[autocomplete="new-password"]').fill(password)
      await page.getByRole('button', { name: 'Set the password and sign in' }).click()
      await page.getByRole('link', { name: 'Profile' }).waitFor()
      await of.sql(`
        insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name, backed_up)
        select 'passkey', id, '\\x01', '\\x01', 0, '{}', 'Laptop', false from users where email = 'ada@example.com'`)
    }
    person = page
    await page.getByRole('link', { name: 'Profile' }).waitFor()
    return page
  }
})

/** The same, once the page has its new size. */
async function settledOverflow(page: Page): Promise<readonly string[]> {
  let found: readonly string[] = []
  const isNone = async () => {
    found = await page.evaluate<string[]>(overflow)
    return found.length === 0
  }
  await until('nothing is too wide', isNone, 2_000).catch(() => {})
  return found
}

/** Finds content that is wider than the window or than its dialog. */
const overflow = `(() => {
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth
  const boxes = [...document.querySelectorAll('[role=dialog], [role=menu]')].flatMap((element) => {
    const { left, right } = element.getBoundingClientRect()
    const inner = element.scrollWidth - element.clientWidth
    return [
      ...(left < -1 || right > innerWidth + 1 ? ['the dialog is from ' + left + ' to ' + right] : []),
      ...(inner > 1 ? ['the content is ' + inner + ' px wider than the dialog'] : []),
    ]
  })
  return [...(wide > 0 ? ['the page is ' + wide + ' px too wide'] : []), ...boxes]
})()`
