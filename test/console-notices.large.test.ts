/** Notifications: at the lower right, or in a strip at the lower edge of a narrow window. They never cover the navigation or a control in use. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import {
  type ConsoleStage,
  enterValue,
  localFolder,
  postgresql,
  preparePeople,
  startConsole,
} from './harness/console.ts'

const looks = [
  { width: 1440, height: 900, theme: 'light' },
  { width: 900, height: 700, theme: 'light' },
  { width: 390, height: 844, theme: 'dark' },
] as const

/** Lists the controls that a notice covers: of the controls that were in sight before, or of all. */
const script = `(() => {
  const controls = 'a[href], button, input:not([type=hidden]), select, textarea, [role=button], [role=tab], [tabindex="0"]'
  const region = () => document.querySelector('[aria-label="Notifications"]')
  /** The part of an element that no scrolling ancestor and no edge of the window cuts off. */
  const shownOf = (element) => {
    let { left, top, right, bottom } = element.getBoundingClientRect()
    for (let one = element.parentElement; one && one !== document.documentElement; one = one.parentElement) {
      const style = getComputedStyle(one)
      if (style.overflowX === 'visible' && style.overflowY === 'visible') continue
      const box = one.getBoundingClientRect()
      ;[left, top] = [Math.max(left, box.left), Math.max(top, box.top)]
      ;[right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)]
    }
    ;[left, top, right, bottom] = [Math.max(left, 0), Math.max(top, 0), Math.min(right, innerWidth), Math.min(bottom, innerHeight)]
    return right - left > 4 && bottom - top > 4 ? { left, top, right, bottom } : undefined
  }
  const pointsOf = ({ left, top, right, bottom }) => [
    [(left + right) / 2, (top + bottom) / 2], [left + 2, bottom - 2], [right - 2, bottom - 2],
    [left + 2, top + 2], [right - 2, top + 2],
  ]
  const all = () => [...document.querySelectorAll(controls)].filter((one) =>
    one.checkVisibility({ visibilityProperty: true }) && !region()?.contains(one) &&
    (!document.querySelector('[aria-modal=true]') || one.closest('[aria-modal=true], [role=listbox]')))
  const isUnderNotice = (one) => {
    const shown = shownOf(one)
    return shown !== undefined && pointsOf(shown).some(([x, y]) => region()?.contains(document.elementFromPoint(x, y)))
  }
  const nameOf = (one) => (one.getAttribute('aria-label') ?? one.textContent ?? '').slice(0, 60) || one.outerHTML.slice(0, 120)
  /** The points of each control that were in sight, from its corner. */
  let seen = new Map()
  globalThis.look = () => {
    seen = new Map(all().flatMap((one) => {
      const [shown, { left, top }] = [shownOf(one), one.getBoundingClientRect()]
      return shown ? [[one, pointsOf(shown).map(([x, y]) => [x - left, y - top])]] : []
    }))
    return seen.size
  }
  const isHidden = ([one, points]) => {
    const [shown, { left, top }] = [shownOf(one), one.getBoundingClientRect()]
    const isIn = (x, y) => x >= shown.left && x <= shown.right && y >= shown.top && y <= shown.bottom
    const isCovered = (x, y) => isIn(x, y) && region()?.contains(document.elementFromPoint(x, y))
    return one.isConnected && shown && points.some(([x, y]) => isCovered(left + x, top + y))
  }
  globalThis.covered = (any) => (any ? all().filter(isUnderNotice) : [...seen].filter(isHidden).map(([one]) => one)).map(nameOf)
  const isChief = (one) => one.matches('[data-variant=filled]') || one.closest('nav, [aria-modal=true]') !== null
  globalThis.coveredChief = () => all().filter((one) => isChief(one) && isUnderNotice(one)).map(nameOf)
  globalThis.cut = () => {
    const { left, top, right, bottom } = region().getBoundingClientRect()
    const texts = [...region().querySelectorAll('*')].filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
    return [left < 0, top < 0, right > innerWidth, bottom > innerHeight, region().scrollHeight > region().clientHeight + 1, texts.length > 0]
  }
})()`

type Scene = {
  readonly name: string
  /** Opens the screen with what can be covered. */
  readonly open: (page: Page) => Promise<unknown>
  /** Causes the notice. */
  readonly act: (page: Page) => Promise<unknown>
  readonly notice: RegExp
  /** Opens something else while the notice is there. */
  readonly afterwards?: (page: Page) => Promise<unknown>
}

describe('notifications', { skip }, () => {
  let stage: ConsoleStage
  let accountId = ''
  let connectionId = ''
  before(async () => {
    stage = await startConsole()
    await preparePeople(stage, 30)
    accountId = (await stage.addAccount('Acme Outdoor')).id
    await stage.addSides(accountId)
    for (let n = 1; n <= 12; n++) await stage.connect(accountId, `Connection ${n}`, { activate: n > 1 })
    const { reply } = await stage.client.listConnections({ accountId, query: { q: 'Connection 2' } })
    connectionId = reply[0]?.id ?? ''
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const notices = (page: Page) => page.getByRole('region', { name: 'Notifications' })
  const button = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const wizard = (query = '') => `/accounts/${accountId}/connections/new${query}`

  const scenes: readonly Scene[] = [
    {
      name: 'the list of sub-accounts',
      open: (page) => page.goto('/accounts'),
      act: async (page) => {
        await button(page, 'Add a sub-account').first().click()
        // The last one of the list: a row before others would move them, with or without a notice.
        await page.getByRole('dialog').getByLabel('Name').fill(`Zebra ${page.viewportSize()?.width}`)
        await button(page, 'Save').click()
      },
      notice: /Zebra/,
    },
    {
      name: 'a connection',
      open: (page) => page.goto(`/accounts/${accountId}/connections/${connectionId}`),
      act: (page) => button(page, 'Run now').click(),
      notice: /Connection 2/,
    },
    {
      name: 'the review of the wizard',
      open: async (page) => {
        await page.goto(wizard(`?source=${localFolder.id}&destination=${postgresql.id}`))
        await enterValue(page, 'Files', 'people.csv')
        await enterValue(page, 'Table', 'people')
      },
      act: (page) => button(page, 'Create the connection').click(),
      notice: /created/,
      afterwards: async (page) => {
        await page.getByRole('button', { name: /^(Save and continue|Continue to review)$/ }).click()
        await page.getByRole('region', { name: 'Activation', exact: true }).waitFor()
      },
    },
    {
      name: 'a drawer with its button at the end',
      open: async (page) => {
        const { id } = await stage.addAccount('Drawer')
        await page.goto(
          `/accounts/${id}/connections/new?source=${localFolder.id}&destination=${postgresql.id}&step=settings`,
        )
      },
      act: (page) => button(page, 'Add PostgreSQL').click(),
      notice: /PostgreSQL/,
      afterwards: async (page) => {
        await button(page, 'Configure PostgreSQL').click()
        await button(page.getByRole('dialog'), 'Save').scrollIntoViewIfNeeded()
      },
    },
    {
      name: 'a form',
      open: (page) => page.goto('/branding'),
      act: async (page) => {
        await page.getByRole('textbox', { name: 'Name' }).fill(`Acme ${page.viewportSize()?.width}`)
        await button(page, 'Save').click()
      },
      notice: /saved/i,
    },
  ]

  for (const look of looks) {
    for (const { name, open, act, notice, afterwards } of scenes) {
      test(`${name}, ${look.width} px wide: nothing important is under a notice`, async () => {
        const page = await stage.open('/accounts', { look })
        page.setDefaultTimeout(20_000)
        await open(page)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForLoadState('networkidle')
        await page.evaluate(script)
        const before = await page.evaluate<number>('look()')
        assert(before > 5, `${before} controls`)
        await act(page)
        const shown = notices(page).locator('[data-notice]').filter({ hasText: notice })
        await shown.waitFor()
        // On a phone, the strip covers nothing; beside the navigation, a notice is over less important parts of the page for seconds.
        if (look.width < 768) assert.deepEqual(await page.evaluate('covered(false)'), [], 'in sight before')
        assert.deepEqual(await page.evaluate('coveredChief()'), [], 'the navigation, a dialog or a primary action')
        // Under the pointer, a notice stays.
        await shown.hover()
        if (look.width >= 768) {
          const left = (await shown.boundingBox())?.x ?? 0
          assert(left >= 248, `it begins at ${left} px, in the navigation`)
        }
        assert.deepEqual(await page.evaluate('cut()'), [false, false, false, false, false, false], 'it is cut')
        if (afterwards) {
          await afterwards(page)
          assert.deepEqual(await page.evaluate('coveredChief()'), [], 'afterwards')
        }
        await page.evaluate('window.scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" })')
        assert.deepEqual(await page.evaluate('covered(true)'), [], 'at the end of the page')
        assert.deepEqual(await accessibilityViolations(page), [])
        if (process.env.PENSTOCK_PICTURES) {
          await page.screenshot({
            path: `${process.env.PENSTOCK_PICTURES}/notice-${look.width}-${name.replaceAll(' ', '-')}.png`,
          })
        }
      })
    }
  }

  test('close by themselves after 5 to 8 seconds, also under a pointer at rest', async () => {
    const page = await stage.open(`/accounts/${accountId}/connections/${connectionId}`)
    const shown = notices(page).locator('[data-notice]')
    const box = page.viewportSize() ?? { width: 0, height: 0 }
    // The pointer rests where the notice appears, and a key causes it.
    await button(page, 'Run now').focus()
    await page.mouse.move(box.width - 200, box.height - 40)
    await page.clock.install()
    await page.keyboard.press('Enter')
    await shown.first().waitFor()
    await page.clock.runFor(8_000)
    await shown.waitFor({ state: 'detached' })
  })

  test('are announced politely, wait while they are pointed at or have the focus, and give the focus back', async () => {
    const page = await stage.open(`/accounts/${accountId}/connections/${connectionId}`)
    assert.equal(await notices(page).getAttribute('aria-live'), 'polite', 'before the first one')
    await page.clock.install()
    await button(page, 'Run now').click()
    const shown = notices(page).locator('[data-notice]').first()
    await shown.waitFor()
    await shown.hover()
    await page.clock.runFor(60_000)
    assert.equal(await shown.isVisible(), true)
    const other = button(page, 'More actions')
    await other.focus()
    await page.mouse.move(700, 300)
    await button(shown, 'Close').focus()
    await page.clock.runFor(60_000)
    assert.equal(await shown.isVisible(), true)
    await page.keyboard.press('Enter')
    await shown.waitFor({ state: 'detached' })
    await other.and(page.locator(':focus')).waitFor()
  })
})
