import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'
import { addDevice } from './harness/device.ts'
import { freePort } from './harness/process.ts'

const password = 'a sentence of its own kind'

describe('a second factor in the console', { skip }, () => {
  let stage: ConsoleStage
  /** Passkeys are of a host with a name. */
  let home: string
  before(async () => {
    const port = await freePort()
    home = `http://localhost:${port}`
    stage = await startConsole({ PENSTOCK_PORT: String(port), PENSTOCK_PUBLIC_URL: home })
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const isIn = (page: Page) => page.getByRole('link', { name: 'Profile' }).waitFor()
  const dialog = (page: Page) => page.getByRole('dialog')
  const card = (page: Page) => page.getByRole('region', { name: 'Second factor' })
  /** A separate browser and device, at a page. */
  const open = async (path: string) => {
    const page = await stage.open('/sign-in', { signedIn: false })
    await addDevice(page)
    await page.goto(home + path)
    return page
  }
  const accept = async (page: Page, name: string, email?: string) => {
    if (email !== undefined) await page.getByRole('textbox', { name: 'E-mail address' }).fill(email)
    await page.getByRole('textbox', { name: 'Your name' }).fill(name)
    await page.locator('input[autocomplete="new-password"]').fill(password)
    await page.getByRole('button', { name: 'Set the password and sign in' }).click()
  }
  const signIn = async (page: Page, email: string) => {
    await page.getByRole('textbox', { name: 'E-mail address' }).fill(email)
    await page.locator('input[autocomplete="current-password"]').fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }
  const signOut = async (page: Page) => {
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Sign in to Penstock' }).waitFor()
  }
  const invite = async (email: string) => {
    const { pathname, hash } = new URL((await stage.client.inviteUser({ body: { email, role: 'viewer' } })).reply.link)
    return pathname + hash
  }
  const isFirst = (page: Page) => page.getByRole('heading', { level: 1, name: 'Add a passkey to continue' }).waitFor()

  test('an owner who has one requires it; the others add a passkey before they can do anything else', async () => {
    const page = await open(await stage.firstLink())
    await accept(page, 'Ada Lopez', 'ada@example.com')
    const kim = await open(await invite('kim@example.com'))
    await accept(kim, 'Kim Ito')
    await isIn(kim)

    // No one locks themselves out.
    await isIn(page)
    await page.goto(`${home}/sign-in-settings`)
    await card(page).getByText('Not required').waitFor()
    const control = card(page).getByRole('button', { name: 'Require a second factor' })
    assert.equal(await control.getAttribute('aria-disabled'), 'true')
    const why = page.locator(`[id="${await control.getAttribute('aria-describedby')}"]`)
    assert.match((await why.textContent()) ?? '', /^You have signed in with a password\./)
    assert.deepEqual(await accessibilityViolations(page), [])

    await page.getByRole('link', { name: 'Profile' }).click()
    const passkeys = page.getByRole('region', { name: 'Passkeys' })
    await passkeys.getByRole('button', { name: 'Add a passkey' }).click()
    await dialog(page).getByRole('button', { name: 'Add a passkey' }).click()
    await passkeys.getByRole('listitem').waitFor()
    await signOut(page)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await isIn(page)
    await page.goto(`${home}/sign-in-settings`)
    await control.click()
    await dialog(page).getByText('Sessions that started with a password end immediately').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog(page).getByRole('button', { name: 'Require a second factor' }).click()
    await card(page).getByText('A password alone is not enough').waitFor()
    await dialog(page).waitFor({ state: 'detached' })
    assert.deepEqual(await accessibilityViolations(page), [])

    await kim.reload()
    await kim.waitForURL('**/sign-in**')
    await signIn(kim, 'kim@example.com')
    await isFirst(kim)
    assert.deepEqual(await accessibilityViolations(kim), [])
    // Wherever they go.
    for (const path of ['/connections', '/profile']) {
      await kim.goto(home + path)
      await isFirst(kim)
      assert.equal(await kim.getByRole('link', { name: 'Profile' }).count(), 0)
    }
    await kim.getByRole('button', { name: 'Sign out' }).click()
    await kim.waitForURL('**/sign-in**')
    await signIn(kim, 'kim@example.com')
    await isFirst(kim)
    await kim.getByRole('textbox', { name: 'Name' }).fill('Laptop')
    await kim.getByRole('button', { name: 'Add a passkey' }).click()
    // The session continues with all permissions, also after the page was reloaded.
    await kim.getByRole('link', { name: 'Profile' }).click()
    await kim.getByText('Laptop', { exact: true }).waitFor()
    await kim.getByRole('textbox', { name: 'Name' }).fill('Kim Sato')
    await kim.getByRole('button', { name: 'Save' }).click()
    await kim.getByText('Your name was saved').waitFor()
    await kim.reload()
    await kim.getByText('Laptop', { exact: true }).waitFor()

    // From now on the password is not enough, neither in this browser nor for someone else who knows it.
    await signOut(kim)
    await signIn(kim, 'kim@example.com')
    await kim.getByRole('alert').getByText('Your organization requires a second factor').waitFor()
    await kim.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await isIn(kim)

    // A person who is invited since adds a passkey right after the password.
    const lee = await open(await invite('lee@example.com'))
    await accept(lee, 'Lee Park')
    await isFirst(lee)

    await card(page).getByRole('button', { name: 'Allow passwords alone' }).click()
    await dialog(page).getByRole('button', { name: 'Allow passwords alone' }).click()
    await card(page).getByText('Not required').waitFor()
    await lee.reload()
    await isIn(lee)
    await signOut(kim)
    await signIn(kim, 'kim@example.com')
    await isIn(kim)
  })
})
