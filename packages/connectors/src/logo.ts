import { catalogueId, type Platform } from '@penstock/connector'
import { brandIcon } from './brand-icons.ts'

/**
 * The logo of a platform as a square SVG document. It has its own background, so that it stands out on light and dark pages
 * alike: the brand's icon on the brand's colour, or initials if the brand's icon is not available. An icon is read from disk at
 * each call, so keep the result. Fails, as a programmer's error, if the platform names an icon that simple-icons does not have.
 */
export function logoOf(platform: Platform): string {
  const drawing = platform.icon === undefined ? drawMonogram(platform) : drawIcon(platform.icon)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" role="img"><title>${escapeXml(platform.name)}</title><rect width="24" height="24" rx="5" fill="${drawing.background}"/>${drawing.mark}</svg>`
}

type Drawing = {
  /** Colour of the square, `#rrggbb`. */
  readonly background: string
  /** Element that is drawn on top of it, in a field of 24 by 24. */
  readonly mark: string
}

function drawIcon(icon: string): Drawing {
  const { colour, path } = brandIcon(icon)
  return {
    background: colour,
    mark: `<path transform="translate(4.5 4.5) scale(.625)" fill="${inkOn(colour)}" d="${path}"/>`,
  }
}

/** Dark enough, each of them, for white letters (at least 4.5 to 1). */
const monogramColours = [
  '#b91c1c',
  '#c2410c',
  '#a16207',
  '#4d7c0f',
  '#15803d',
  '#0f766e',
  '#0e7490',
  '#1d4ed8',
  '#4338ca',
  '#7e22ce',
  '#a21caf',
  '#be185d',
  '#475569',
] as const

function drawMonogram({ slug, name }: Platform): Drawing {
  const initials = initialsOf(name) || initialsOf(slug)
  const fontSize = initials.length > 1 ? 11 : 15
  const pick = Number.parseInt(catalogueId('platform', slug).slice(0, 8), 16) % monogramColours.length
  // Capitals are about 0.72 of the font size high. Half of that below the middle centres them in any renderer.
  return {
    background: monogramColours[pick] ?? monogramColours[0],
    mark: `<text x="12" y="${(12 + fontSize * 0.36).toFixed(1)}" text-anchor="middle" font-family="system-ui, sans-serif" font-size="${fontSize}" font-weight="600" fill="#ffffff">${initials}</text>`,
  }
}

/** One or two capitals: of the first two words. `LiveRamp` is treated as two words, and a leading article is skipped. */
function initialsOf(name: string): string {
  const words = name.replace(/^The /, '').match(/\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{L}|\p{N}+/gu) ?? []
  return words
    .slice(0, 2)
    .map((word) => [...word.toUpperCase()][0])
    .join('')
}

/** White, unless that falls below 3 to 1, the contrast that shapes need. */
function inkOn(background: string): string {
  return 1.05 / (luminance(background) + 0.05) >= 3 ? '#ffffff' : '#111111'
}

/** Relative luminance of a colour `#rrggbb`, 0 to 1, as WCAG 2 defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

const escapeXml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
