import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'
import { type MailServer, startMailServer, tokenIn } from './harness/mail-server.ts'
import { freePort } from './harness/process.ts'

const email = 'ada@example.com'
const oldPassword = 'a sentence of its own kind'
const newPassword = 'quite another sentence now'

describe('a password is reset by a link in a mail, in the console', { skip }, () => {
  let stage: ConsoleStage
  let mail: MailServer
  before(async () => {
    const port = await freePort()
    mail = await startMailServer()
    stage = await startConsole({
      PENSTOCK_PORT: String(port),
      PENSTOCK_PUBLIC_URL: `http://127.0.0.1:${port}`,
      PENSTOCK_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      PENSTOCK_MAIL_FROM: 'penstock@example.com',
    })
  })
  afterEach(() => stage.closePages())
  after(async () => {
    await stage?.close()
    await mail?.close()
  })

  const isIn = (page: Page) => page.getByRole('link', { name: 'Profile' }).waitFor()
  const present = (page: Page) => page.locator('input[autocomplete="current-password"]')
  const chosen = (page: Page) => page.locator('input[autocomplete="new-password"]')
  const save = (page: Page) => page.getByRole('button', { name: 'Set the password and sign in' }).click()
  const signIn = async (page: Page, password: string) => {
    await page.getByRole('textbox', { name: 'E-mail address' }).fill(email)
    await present(page).fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }
  /** Requests a link on the sign-in page. Returns the message of the page. */
  const askFor = async (page: Page, address: string) => {
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await page.getByRole('textbox', { name: 'E-mail address' }).fill(address)
    await page.getByRole('button', { name: 'Send the link' }).click()
    const text = await page.getByRole('status').filter({ hasText: address }).innerText()
    return text.replace(address, '…')
  }

  test('the old password is refused, other sessions have ended, and the link counts once', async () => {
    const first = await stage.open(await stage.firstLink(), { signedIn: false })
    await first.getByRole('textbox', { name: 'E-mail address' }).fill(email)
    await first.getByRole('textbox', { name: 'Your name' }).fill('Ada Lopez')
    await chosen(first).fill(oldPassword)
    await save(first)
    await isIn(first)

    const page = await stage.open('/sign-in', { signedIn: false })
    const said = await askFor(page, email)
    assert.deepEqual(await accessibilityViolations(page), [])
    const [received] = await mail.mailsTo(email)
    assert(received)
    const link = `/reset-password#${tokenIn(received)}`
    assert(received.text.includes(stage.url + link), 'the mail has the address of the page')

    // Nobody learns who is in the organization: an unknown address gets the same words, and no mail.
    const stranger = await stage.open('/sign-in', { signedIn: false })
    assert.equal(await askFor(stranger, 'nobody@example.com'), said)

    await page.goto(link)
    await page.getByRole('heading', { level: 1, name: 'Reset your password' }).waitFor()
    await chosen(page).fill('password1234')
    await save(page)
    await page.getByText('is too common').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await chosen(page).fill(newPassword)
    await save(page)
    await isIn(page)
    assert(!page.url().includes('#'), 'the token is not in the address any more')

    await first.reload()
    await first.waitForURL('**/sign-in**')
    await signIn(first, oldPassword)
    await first.getByRole('alert').getByText('Sign-in failed').waitFor()

    const late = await stage.open(link, { signedIn: false })
    await chosen(late).fill('a third sentence of them')
    await save(late)
    await late.getByRole('alert').getByText('This link is not valid').waitFor()
    assert.deepEqual(await accessibilityViolations(late), [])

    await page.reload()
    await isIn(page)
    await signIn(first, newPassword)
    await isIn(first)
    assert.deepEqual(
      mail.mails.map(({ to }) => to),
      [[email]],
    )
  })
})
