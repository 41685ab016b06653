import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, preparePeople, signIn, startConsole } from './harness/console.ts'

const password = 'a sentence of its own kind'
const menu = (page: Page) => page.getByRole('navigation', { name: 'Main' })
const dialog = (page: Page) => page.getByRole('dialog')
const stored = (page: Page) => page.evaluate<string>('JSON.stringify({ ...sessionStorage, ...localStorage })')
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })
const isImpossible = async (page: Page, role: 'button' | 'menuitem', name: string) => {
  const control = page.getByRole(role, { name: new RegExp(`^${name}`) }).filter({ visible: true })
  await control.waitFor()
  assert.equal(await control.getAttribute('aria-disabled'), 'true', name)
  const why = page.locator(`[id="${await control.getAttribute('aria-describedby')}"]`)
  assert.match((await why.textContent()) ?? '', /^(?:Owner|Admin|Editor|Viewer)s cannot .+\.$/)
}

describe('people in the console', { skip }, () => {
  let stage: ConsoleStage
  let accountId: string
  let connectionId: string
  before(async () => {
    stage = await startConsole()
    await preparePeople(stage, 20)
    accountId = (await stage.addAccount('Acme Outdoor')).id
    await stage.addAccount('Northwind Retail')
    await stage.addSides(accountId)
    connectionId = (await stage.connect(accountId, 'Loyalty members')).id
    await stage.run(accountId, connectionId)
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const newPassword = (page: Page) => page.locator('input[autocomplete="new-password"]')
  const oldPassword = (page: Page) => page.locator('input[autocomplete="current-password"]')
  const accept = async (page: Page, name: string) => {
    await page.getByRole('textbox', { name: 'Your name' }).fill(name)
    await newPassword(page).fill(password)
    await page.getByRole('button', { name: 'Set the password and sign in' }).click()
    await menu(page).waitFor({ state: 'attached' })
  }
  const signInAs = async (email: string, given = password, path = '/') => {
    const page = await stage.open(path, { signedIn: false })
    await page.getByRole('textbox', { name: 'E-mail address' }).fill(email)
    await oldPassword(page).fill(given)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    return page
  }
  const invite = async (page: Page, email: string, role: string) => {
    await page.getByRole('button', { name: 'Invite a person' }).first().click()
    await dialog(page).getByRole('textbox', { name: 'E-mail address' }).fill(email)
    await dialog(page).getByRole('radio', { name: role }).check()
    await dialog(page).getByRole('button', { name: 'Invite', exact: true }).click()
    const link = await dialog(page).getByRole('textbox', { name: 'Invitation link' }).inputValue()
    await dialog(page).getByText('This service does not send e-mail').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog(page).getByRole('button', { name: 'Done' }).click()
    const { pathname, hash } = new URL(link)
    return pathname + hash
  }

  test('from the first start to a viewer who sees and cannot change, and signing out everywhere', async () => {
    const page = await stage.open(await stage.firstLink(), { signedIn: false })
    await page.getByText('Your role: owner').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('textbox', { name: 'E-mail address' }).fill('ada@example.com')
    // The service's error about a password is shown at its field.
    await page.getByRole('textbox', { name: 'Your name' }).fill('Ada Lopez')
    await newPassword(page).fill('password1234')
    await page.getByRole('button', { name: 'Set the password and sign in' }).click()
    await page.getByText('is too common').waitFor()
    await accept(page, 'Ada Lopez')
    await page.waitForURL(`${stage.url}/`)
    assert(!/ps[a-z]_/.test(await stored(page)), 'no token is in the storage of the browser')
    assert.equal(await page.evaluate('document.cookie'), '', 'no script reads the cookie')

    // The link counts once.
    const late = await stage.open(await stage.firstLink(), { signedIn: false })
    await late.getByText('This link is not valid').waitFor()
    assert.deepEqual(await accessibilityViolations(late), [])

    await menu(page).getByRole('link', { name: 'People' }).click()
    await row(page, 'ada@example.com').getByText('You', { exact: true }).waitFor()
    const link = await invite(page, 'grace@example.com', 'Viewer')
    await row(page, 'grace@example.com').getByText('Invited').filter({ visible: true }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])

    const viewer = await stage.open(link, { signedIn: false })
    await accept(viewer, 'Grace Hall')
    const entries = await menu(viewer).getByRole('link').allInnerTexts()
    for (const hidden of ['People', 'API keys']) assert(!entries.includes(hidden), hidden)
    for (const seen of ['Sub-accounts', 'Connections', 'Reports']) assert(entries.includes(seen), seen)
    await menu(viewer).getByRole('link', { name: 'Connections' }).click()
    await isImpossible(viewer, 'button', 'New connection')
    await viewer.getByRole('link', { name: 'Loyalty members' }).click()
    await viewer.getByRole('heading', { level: 1, name: 'Loyalty members' }).waitFor()
    await isImpossible(viewer, 'button', 'Run now')
    await isImpossible(viewer, 'button', 'Disable')
    await isImpossible(viewer, 'button', 'Set a schedule')
    assert.deepEqual(await accessibilityViolations(viewer), [])
    await viewer.goto('/accounts')
    await isImpossible(viewer, 'button', 'Add a sub-account')
    await viewer.getByRole('button', { name: 'Actions for Acme Outdoor' }).click()
    await isImpossible(viewer, 'menuitem', 'Delete')
    // A page that they open by its address says which permission is missing, and shows no error.
    await viewer.goto('/people')
    await viewer.getByText('Viewers cannot view people.').waitFor()
    assert.equal(await viewer.getByRole('alert').count(), 0)
    assert.deepEqual(await accessibilityViolations(viewer), [])

    // The owner changes the role, which takes effect immediately, without another sign-in.
    await page.reload()
    await page.getByRole('button', { name: 'Actions for Grace Hall' }).click()
    await page.getByRole('menuitem', { name: 'Change the role' }).click()
    await dialog(page).getByRole('radio', { name: 'Editor' }).check()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await row(page, 'Grace Hall').getByText('Editor').filter({ visible: true }).waitFor()
    await viewer.goto(`/accounts/${accountId}/connections/${connectionId}`)
    await viewer.getByRole('button', { name: 'Run now' }).click()
    await viewer.getByText('Transfer of Loyalty members has started').or(viewer.getByText('started')).first().waitFor()

    // Signing out everywhere ends both browsers of the owner, and no one else's.
    const other = await signInAs('ada@example.com')
    await menu(other).waitFor({ state: 'attached' })
    await other.getByRole('link', { name: 'Profile' }).click()
    await other.getByText('This browser').waitFor()
    // A tooltip is in no landmark.
    await other.mouse.move(700, 60)
    await other.getByRole('tooltip').waitFor({ state: 'detached' })
    assert.equal(await other.getByText('Chrome on').count(), 2)
    assert.deepEqual(await accessibilityViolations(other), [])
    await other.getByRole('button', { name: 'Sign out everywhere' }).click()
    await dialog(other).getByRole('button', { name: 'Sign out everywhere' }).click()
    await other.waitForURL('**/sign-in**')
    await page.getByRole('searchbox').fill('Grace')
    await page.waitForURL('**/sign-in**')
    await viewer.reload()
    await viewer.getByRole('heading', { level: 1, name: 'Loyalty members' }).waitFor()
  })

  test('a password is changed and reset; a wrong one is refused; every session but one ends', async () => {
    const { reply } = await stage.client.inviteUser({ body: { email: 'kim@example.com', role: 'admin' } })
    const first = await stage.open(new URL(reply.link).pathname + new URL(reply.link).hash, { signedIn: false })
    await accept(first, 'Kim Ito')
    const page = await signInAs('kim@example.com', 'not the password at all')
    await page.getByRole('alert').getByText('Sign-in failed').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await oldPassword(page).fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Kim Sato')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Your name was saved').waitFor()
    await oldPassword(page).fill('not the password at all')
    await newPassword(page).fill('another sentence of mine')
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('is not your present password').waitFor()
    await oldPassword(page).fill(password)
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('your other sessions have ended').waitFor()
    // The session continues with another cookie, for reads and for writes.
    await page.getByRole('textbox', { name: 'Name' }).fill('Kim Ito')
    await page.getByRole('button', { name: 'Save' }).click()
    await first.reload()
    await first.waitForURL('**/sign-in**')
    // As curl shows no password.
    await page.getByRole('button', { name: 'As curl' }).click()
    await page.getByText('/es/v2/me/password').first().waitFor()
    assert(!(await page.content()).includes('another sentence of mine'))
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.waitForURL('**/sign-in**')
    await page.goto('/forgot-password')
    await page.getByRole('textbox', { name: 'E-mail address' }).fill('kim@example.com')
    await page.getByRole('button', { name: 'Send the link' }).click()
    await page.getByText('This service does not send e-mail').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('a person and a key that are limited to one sub-account use the console, and see no other', async () => {
    const { reply } = await stage.client.inviteUser({
      body: { email: 'lee@example.com', role: 'viewer', accountIds: [accountId] },
    })
    const page = await stage.open(new URL(reply.link).pathname + new URL(reply.link).hash, { signedIn: false })
    await accept(page, 'Lee Park')
    await page.waitForURL(`**/accounts/${accountId}`)
    await page.getByRole('button', { name: 'Switch sub-account: Acme Outdoor' }).click()
    await page.getByRole('option', { name: 'Acme Outdoor' }).waitFor()
    assert.equal(await page.getByRole('option').count(), 1)
    await page.goto('/reports')
    await page.waitForURL(`**/accounts/${accountId}/reports`)
    await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor()
    assert.equal(await page.getByRole('alert').count(), 0)

    const { reply: key } = await stage.client.createClient({
      body: { name: 'Few scopes', scopes: ['accounts:read', 'connections:read'], accountIds: [accountId] },
    })
    const narrow = await stage.open('/', { signedIn: false })
    await signIn(narrow, { clientId: key.id, clientSecret: key.clientSecret })
    await narrow.waitForURL(`**/accounts/${accountId}`)
    await narrow.waitForLoadState('networkidle')
    assert.equal(await narrow.getByRole('alert').count(), 0, 'what is missing is no error')
    await narrow.getByText('cannot view reports').first().waitFor()
    assert.equal(await menu(narrow).getByRole('link', { name: 'Reports' }).count(), 0)
    assert.deepEqual(await accessibilityViolations(narrow), [])
  })
})
