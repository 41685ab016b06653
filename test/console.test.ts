import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { accessibilityFaults, skip } from './harness/browser.ts'
import { type ConsoleStage, signIn, startConsole } from './harness/console.ts'

describe('the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
  })
  after(() => stage?.close())

  test('asks who one is, and leads to the page that was asked for', async () => {
    const page = await stage.open('/accounts?q=nobody', { signedIn: false })
    await page.waitForURL('**/sign-in?to=*')
    await page.getByLabel('Client id').fill(stage.credentials.clientId)
    await page.locator('input[type=password]').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('Request').waitFor()
    assert.deepEqual(await accessibilityFaults(page), [])
    await signIn(page, stage.credentials)
    await page.waitForURL('**/accounts?q=nobody')
    await page.getByText('No sub-account fits').waitFor()
  })
})
