import { readFileSync } from 'node:fs'

/** Icon of a brand: its colour, `#rrggbb`, and the `d` of its one path, in a field of 24 by 24. */
export type BrandIcon = { readonly colour: string; readonly path: string }

/**
 * An icon of simple-icons, read from disk at each call. The build of the published package replaces this module with the icons that
 * the catalogue uses.
 * @throws as a programmer's error, if there is no such icon
 */
export function brandIcon(icon: string): BrandIcon {
  const colour = brandColour(icon)
  const path = /<path d="([^"]+)"/.exec(readPackage(`simple-icons/icons/${icon}.svg`))?.[1]
  if (path === undefined) throw new Error(`The icon ${icon} of simple-icons has no path`)
  return { colour, path }
}

let colours: ReadonlyMap<string, string> | undefined

/** Read once, when the first icon is drawn. */
function brandColour(icon: string): string {
  if (!colours) {
    const icons: { slug: string; hex: string }[] = JSON.parse(readPackage('simple-icons/icons.json'))
    colours = new Map(icons.map(({ slug, hex }) => [slug, `#${hex.toLowerCase()}`]))
  }
  const colour = colours.get(icon)
  if (colour === undefined) throw new Error(`simple-icons has no icon ${icon}: leave \`icon\` out for a monogram`)
  return colour
}

const readPackage = (specifier: string) => readFileSync(new URL(import.meta.resolve(specifier)), 'utf8')
