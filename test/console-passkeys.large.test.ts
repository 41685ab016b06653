import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'
import { addDevice } from './harness/device.ts'
import { freePort } from './harness/process.ts'

describe('passkeys in the console', { skip }, () => {
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

  test('one is added, signs in without a password, and is removed', async () => {
    const page = await stage.open('/sign-in', { signedIn: false })
    await page.goto(`${home}/sign-in`)
    const device = await addDevice(page)
    await page.goto(`${home}${await stage.firstLink()}`)
    await page.getByRole('textbox', { name: 'E-mail address' }).fill('ada@example.com')
    await page.getByRole('textbox', { name: 'Your name' }).fill('Ada Lopez')
    await page.locator('input[autocomplete="new-password"]').fill('a sentence of its own kind')
    await page.getByRole('button', { name: 'Set the password and sign in' }).click()
    await page.getByRole('link', { name: 'Profile' }).click()
    const passkeys = page.getByRole('region', { name: 'Passkeys' })
    await passkeys.getByText('You have no passkeys yet.').waitFor()
    await passkeys.getByRole('button', { name: 'Add a passkey' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Laptop')
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Add a passkey' }).click()
    await passkeys.getByText('Laptop').waitFor()
    await dialog.waitFor({ state: 'detached' })

    // The same device again is no error.
    await passkeys.getByRole('button', { name: 'Add a passkey' }).click()
    await dialog.getByRole('button', { name: 'Add a passkey' }).click()
    await dialog.getByText('This device already has a passkey of yours.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Sign in to Penstock' }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    // Someone else at the device does not get in.
    await device.verifies(false)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('Cancelled. Try again').waitFor()
    await device.verifies(true)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByText('with passkey').waitFor()
    // A tooltip is in no landmark.
    await page.mouse.move(700, 60)
    await page.getByRole('tooltip').waitFor({ state: 'detached' })
    assert.deepEqual(await accessibilityViolations(page), [])

    await passkeys.getByRole('button', { name: 'Remove the passkey Laptop' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await passkeys.getByText('You have no passkeys yet.').waitFor()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('alert').getByText('Sign-in failed').waitFor()
  })
})
