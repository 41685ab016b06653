import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'

/** A person in front of a page, whose clicks and typed fields are counted. */
export function personAt(page: Page) {
  let [clicks, typed] = [0, 0]
  return {
    click: async (target: Locator) => {
      clicks++
      await target.click()
    },
    type: async (target: Locator, text: string) => {
      typed++
      await target.fill(text)
    },
    /** Opens a list of the browser, and picks a value. */
    select: async (target: Locator, value: string | { label: string }) => {
      clicks += 2
      await target.selectOption(value)
    },
    paste: async (target: Locator, text: string) => {
      typed++
      await target.focus()
      await page.evaluate(`{
        const clipboardData = new DataTransfer()
        clipboardData.setData('text', ${JSON.stringify(text)})
        document.activeElement.dispatchEvent(
          new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
        )
      }`)
    },
    /** A click that opens the dialog of the system, and one in it. */
    choose: async (button: Locator, name: string, text: string) => {
      clicks += 2
      const chooser = page.waitForEvent('filechooser')
      await button.click()
      await (await chooser).setFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
    },
    assertAtMost: (most: { clicks: number; typed: number }) =>
      assert(clicks <= most.clicks && typed <= most.typed, `${clicks} clicks, ${typed} typed fields`),
  }
}
