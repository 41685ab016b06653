import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Locator, Page } from 'playwright-core'

/** Plays a path through the console step by step, counts the clicks, and takes a frame for each step. */

const root = dirname(dirname(import.meta.dirname))
const folder = 'docs/screenshots/first-hour'
/** A frame is for a page of text: it stays small. */
const frameBytesMax = 60 * 1024
const frameQualities = [80, 65, 50, 35]

/** Whether frames and the document are written: `npm run film`. */
export const isFilming: boolean = process.env.PENSTOCK_FILM !== undefined

type Frame = { readonly caption: string; readonly file: string; readonly clicks: number }

/** One way, and what it took. */
export type Film = {
  readonly title: string
  readonly about: string
  readonly clicksMax: number
  readonly frames: readonly Frame[]
  clicks: number
  seconds: number
}

/** The person in front of the page. */
export type Actor = {
  readonly page: Page
  /** Clicks something, which counts. */
  click(target: Locator): Promise<void>
  /** Counts clicks that were made elsewhere. */
  count(clicks: number): void
  /** Types a credential, or what only a person knows, such as their name. */
  type(target: Locator, text: string): Promise<void>
  /** Chooses a file in the dialog of the system: a click that opens it, and a click in it. */
  choose(button: Locator, file: { name: string; text: string }): Promise<void>
  /** Takes a frame when the result of the step is visible. */
  frame(caption: string, shown: Locator): Promise<void>
}

/** @param name of the frames, such as `sample` */
export async function film(
  page: Page,
  { name, title, about, clicksMax }: { name: string; title: string; about: string; clicksMax: number },
  play: (actor: Actor) => Promise<void>,
): Promise<Film> {
  const frames: Frame[] = []
  const made: Film = { title, about, clicksMax, frames, clicks: 0, seconds: 0 }
  const began = performance.now()
  /** Taking frames is not what a person waits for. */
  let pausedMs = 0
  await play({
    page,
    click: async (target) => {
      made.clicks++
      await target.click()
    },
    count: (clicks) => {
      made.clicks += clicks
    },
    type: (target, text) => target.fill(text),
    choose: async (button, { name: file, text }) => {
      made.clicks += 2
      const chooser = page.waitForEvent('filechooser')
      await button.click()
      await (await chooser).setFiles({ name: file, mimeType: 'text/csv', buffer: Buffer.from(text) })
    },
    frame: async (caption, shown) => {
      await shown.waitFor()
      const since = performance.now()
      const file = `${name}-${frames.length + 1}.jpg`
      if (isFilming) await shoot(page, file)
      frames.push({ caption, file, clicks: made.clicks })
      pausedMs += performance.now() - since
    },
  })
  made.seconds = Math.round((performance.now() - began - pausedMs) / 1000)
  return made
}

async function shoot(page: Page, file: string): Promise<void> {
  await mkdir(join(root, folder), { recursive: true })
  for (const quality of frameQualities) {
    const bytes = await page.screenshot({ type: 'jpeg', quality })
    if (bytes.byteLength > frameBytesMax) continue
    await writeFile(join(root, folder, file), bytes)
    return
  }
  assert.fail(`${file} is larger than ${frameBytesMax} bytes at every quality`)
}

/** Removes the frames of the last film. */
export const clearFrames = (): Promise<void> => rm(join(root, folder), { recursive: true, force: true })

/** Writes the document with the frames, the clicks and the seconds. */
export async function writeFilm(films: readonly Film[]): Promise<void> {
  const table = films.map(
    ({ title, clicks, clicksMax, seconds }) => `| ${title} | ${clicks} | ${clicksMax} | ${seconds} |`,
  )
  const parts = films.map(({ title, about, frames }) =>
    [
      `## ${title}`,
      '',
      about,
      '',
      ...frames.flatMap(({ caption, file, clicks }, at) => [
        `${at + 1}. ${caption} (${clicks === 1 ? '1 click' : `${clicks} clicks`} so far)`,
        '',
        `   ![The console at this step: ${caption}](screenshots/first-hour/${file})`,
        '',
      ]),
    ].join('\n'),
  )
  const text = `# The first hour

From the link that the first start prints to moved rows, in three ways. \`npm run film\` plays them in Chromium against a real
service, and writes this page. A test of the second tier plays them, too, and fails if one needs more clicks than the bound. The
seconds are for a program that does not read the screens, on one machine. They have no bound.

You type only credentials. Choosing a file in the system dialog is two clicks.

| Way | Clicks | At most | Seconds |
|---|---|---|---|
${table.join('\n')}

${parts.join('\n')}`
  await writeFile(join(root, 'docs/first-hour.md'), `${text.trimEnd()}\n`)
}
