import type { Locator, Page } from 'playwright-core'
import type { Scene } from './console-scene.ts'

/** Resources of the dialogs, in addition to the usual scene. */
export type DialogScene = Scene & {
  /** A connection whose preview has findings. */
  readonly draftId: string
  /** A connection whose latest transfer waits for a confirmation. */
  readonly replacesId: string
  /** A connection with sixty columns, whose mapping is open. */
  readonly mappedId: string
  /** A connection whose source has ranges. */
  readonly rangesId: string
}

export type Dialog = {
  readonly name: string
  /** The source files of the console that it is made by. */
  readonly of: readonly string[]
  readonly path: (scene: DialogScene) => string
  readonly open: (page: Page) => Promise<unknown>
  /** `menu`: axe-core and the keys are checked as for a menu. */
  readonly kind?: 'dialog' | 'menu'
  /** It is closed and opened again before the window changes, in which it would lose what it hangs on. */
  readonly floats?: true
  /** Only its buttons close it. */
  readonly stays?: true
  /** The account that sees it. `person`: someone who is signed in with a password. */
  readonly as?: 'client' | 'person'
}

/** Steps that open dialogs. */

export const ofAccount = (path: string) => (scene: DialogScene) => `/accounts/${scene.accountId}${path}`
export const ofConnection = (id: keyof DialogScene, path = '') =>
  ofAccountAnd((scene) => `/connections/${scene[id]}${path}`)
export function ofAccountAnd(path: (scene: DialogScene) => string) {
  return (scene: DialogScene) => `/accounts/${scene.accountId}${path(scene)}`
}

export const button = (scope: Page | Locator, name: string | RegExp) =>
  scope.getByRole('button', { name, exact: true }).filter({ visible: true }).first()
export const click = (name: string | RegExp) => (page: Page) => button(page, name).click()
export const clickIn = (name: string | RegExp) => (page: Page) => button(page.getByRole('dialog').last(), name).click()
export const choose = (menu: string | RegExp, item: string | RegExp) => async (page: Page) => {
  await button(page, menu).click()
  await page.getByRole('menuitem', { name: item }).click()
}
export const select = async (page: Page) => {
  await page.getByRole('checkbox', { name: 'Select Customers to warehouse' }).filter({ visible: true }).first().click()
}
export const after =
  (...steps: readonly ((page: Page) => Promise<unknown>)[]) =>
  async (page: Page) => {
    for (const step of steps) await step(page)
  }
export const fill = (label: string | RegExp, text: string) => (page: Page) =>
  page.getByRole('dialog').last().getByLabel(label).first().fill(text)
export const press = (key: string) => (page: Page) => page.keyboard.press(key)
export const focus = (name: string) => (page: Page) => button(page, name).focus()
export const more = 'More actions'
