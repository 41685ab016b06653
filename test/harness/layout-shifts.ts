import type { Page } from 'playwright-core'

/** Observes unexpected layout shifts of a page from its first paint. For `addInitScript`. */
export const observeLayoutShifts = `
  globalThis.layoutShifts = []
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue
      const moved = sources.map(({ node, previousRect, currentRect }) => {
        const element = node instanceof Element ? node : node?.parentElement
        return (element?.tagName ?? '?') + ' "' + (element?.textContent ?? '').slice(0, 40) + '" from ' +
          [previousRect.top, previousRect.height].map(Math.round) + ' to ' + [currentRect.top, currentRect.height].map(Math.round)
      })
      globalThis.layoutShifts.push({ value, moved })
    }
  }).observe({ type: 'layout-shift', buffered: true })
`
const mostLayoutShift = 0.05

/** Elements that moved on a screen while it loaded, a line each, if the shift is more than a reader would overlook. */
export async function layoutShifts(page: Page, name: string): Promise<string[]> {
  type Shift = { readonly value: number; readonly moved: readonly string[] }
  const shifts = await page.evaluate<Shift[]>('globalThis.layoutShifts')
  const sum = shifts.reduce((total, { value }) => total + value, 0)
  if (sum <= mostLayoutShift) return []
  return shifts.map(({ value, moved }) => `${name}: a layout shift of ${value.toFixed(3)}: ${moved.join('; ')}`)
}
