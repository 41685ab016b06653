import type { templateNames } from './definition.ts'

/** Values by the names that templates have; a name that has no value is empty. */
export type TemplateValues = Readonly<Partial<Record<(typeof templateNames)[number], string>>>

const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/g

/** The names in a template, also unknown ones. */
export const namesIn = (template: string): string[] => [...template.matchAll(placeholder)].map(([, name = '']) => name)

/** Whether braces are left that belong to no name. */
export const hasOpenBraces = (template: string): boolean => /\{\{|\}\}/.test(template.replace(placeholder, ''))

/** The text of a template: each `{{ name }}` is replaced by its value, and nothing is evaluated. @param encode for each value */
export const fill = (
  template: string,
  values: TemplateValues,
  encode: (value: string) => string = (value) => value,
): string => template.replace(placeholder, (_, name: keyof TemplateValues) => encode(values[name] ?? ''))

/** A body whose texts are filled; everything else stays. */
export function fillDeep(body: unknown, values: TemplateValues): unknown {
  if (typeof body === 'string') return fill(body, values)
  if (Array.isArray(body)) return body.map((one) => fillDeep(one, values))
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, fillDeep(value, values)]))
}
