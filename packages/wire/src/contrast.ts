/** Whether text can be read on a colour, as the Web Content Accessibility Guidelines measure it. Colours are #rrggbb. */

/** WCAG 2.2, 1.4.3 (AA): of text of any size. */
export const contrastMin = 4.5

/** Relative luminance, as WCAG defines it. */
function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** From 1, for the same colour, to 21. */
export function contrastOf(one: string, other: string): number {
  const [low = 0, high = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

/** White or black, whichever is easier to read: on every colour, one of the two has a contrast of at least 4.58 to 1. */
export const readableOn = (background: string): '#ffffff' | '#000000' =>
  contrastOf(background, '#ffffff') >= contrastOf(background, '#000000') ? '#ffffff' : '#000000'
