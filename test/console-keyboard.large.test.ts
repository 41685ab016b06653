/**
 * Every screen with only the keyboard: Tab reaches each control in the order of the page and leaves the page at its end, and
 * the focused control is visible. The arrow keys reach controls of one group, such as tabs.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type Look, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'
import { prepareScene, type Scene } from './harness/console-scene.ts'
import { screens } from './harness/console-screens.ts'

const looks: readonly Look[] = [
  { width: 1440, height: 900, theme: 'light' },
  { width: 390, height: 844, theme: 'dark' },
]

/** Follows the focus through a page. */
const script = `(() => {
  const controls = 'a[href], button, input:not([type=hidden]), select, textarea, [role=button], [role=combobox], [role=switch], ' +
    '[role=tab], [role=menuitem], [role=option], [tabindex]'
  const nameOf = (one) => one.tagName + ' ' + (one.getAttribute('aria-label') || one.textContent || one.labels?.[0]?.textContent || one.outerHTML).slice(0, 80)
  const dialogs = () => [...document.querySelectorAll('[role=dialog]')].filter((one) => one.checkVisibility())
  const scope = () => dialogs().at(-1) ?? document.body
  const isExpected = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0 && !one.closest('[inert]')
  const groupOf = (one) => (one.type === 'radio' && one.name ? 'radio ' + one.name : '')
  let visited = []
  const problems = []
  let last
  const stylesOf = (one) => {
    const around = [one, one.nextElementSibling, one.previousElementSibling, one.parentElement?.nextElementSibling]
    for (let each = one.parentElement; each && around.length < 9; each = each.parentElement) around.push(each)
    return JSON.stringify(around.map((each) => {
      if (!each) return ''
      const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor } = getComputedStyle(each)
      return [outlineStyle === 'none' ? '' : outlineWidth + outlineColor, boxShadow, borderColor]
    }))
  }
  /** Notes where the focus is; whether it is still in the page. */
  globalThis.follow = (isFirst) => {
    if (last && last.one !== document.activeElement && last.one.isConnected && stylesOf(last.one) === last.styles) problems.push('the focus is not seen: ' + nameOf(last.one))
    const one = document.activeElement
    last = undefined
    if (!one || one === document.body || one === document.documentElement) return false
    const before = visited.at(-1)
    // A date has several parts, and a dialog keeps the focus in a circle.
    if (one === before) return true
    if (visited.includes(one)) return false
    const wraps = one.closest('[role=dialog]') && one === [...scope().querySelectorAll(controls)].find(isExpected)
    if (before?.isConnected && !wraps && !(before.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING)) {
      problems.push('the order goes back from ' + nameOf(before) + ' to ' + nameOf(one))
    }
    const { top, bottom, left, right } = one.getBoundingClientRect()
    const header = one.closest('header, nav, [role=dialog], .skip') ? 0 : document.querySelector('header')?.getBoundingClientRect().bottom ?? 0
    if (bottom <= header || top >= innerHeight || right <= 0 || left >= innerWidth) problems.push('the focus is out of sight: ' + nameOf(one))
    visited.push(one)
    // No key was pressed yet, so a browser need not show the focus that a dialog begins with.
    if (!isFirst) last = { one, styles: stylesOf(one) }
    return true
  }
  globalThis.result = () => {
    const groups = new Set(visited.map(groupOf).filter(Boolean))
    const missed = [...scope().querySelectorAll(controls)].filter((one) =>
      isExpected(one) && !visited.includes(one) && !groups.has(groupOf(one)))
    return [...problems, ...missed.map((one) => 'Tab does not reach ' + nameOf(one))]
  }
})()`
/** More than any screen has. */
const stepsMax = 400

describe('every screen of the console, by the keyboard', { skip }, () => {
  let stage: ConsoleStage
  let scene: Scene
  before(async () => {
    stage = await startConsole({ PENSTOCK_RETRY_SECONDS: '1' })
    scene = await prepareScene(stage)
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  for (const look of looks) {
    for (const { name, path, title, settle } of screens) {
      test(`${name}, ${look.width} px wide`, async () => {
        const page = await stage.open(path(scene), { look })
        page.setDefaultTimeout(20_000)
        await page.getByRole('heading', { level: 1, name: title }).waitFor()
        await settle?.(page)
        await page.waitForLoadState('networkidle')
        await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
        // How a control looks is compared before and after it has the focus: nothing fades in between.
        await page.addStyleTag({
          content: '*, ::before, ::after { transition: none !important; animation: none !important }',
        })
        await page.evaluate(script)
        const inDialog = (await page.getByRole('dialog').count()) > 0
        if (inDialog) await page.evaluate('follow(true)')
        // A click of `settle` has moved the place where Tab begins.
        else if (settle)
          await page.evaluate(
            'document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute("tabindex")',
          )
        let steps = 0
        do {
          await page.keyboard.press('Tab')
          steps += 1
        } while (steps < stepsMax && (await page.evaluate<boolean>('follow()')))
        assert(steps < stepsMax, `${steps} steps do not leave the page`)
        assert.deepEqual(await page.evaluate('result()'), [])
      })
    }
  }
})
