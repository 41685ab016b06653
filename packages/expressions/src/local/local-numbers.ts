import type { LocalRead, NumberForm } from './local-forms.ts'

const spaces = String.raw`[ \u00a0\u202f'’]`
const grouped = {
  point: new RegExp(String.raw`^[1-9]\d{0,2}(?:(?:,\d{3})+|(?:${spaces}\d{3})+)(?:\.\d+)?$`),
  comma: new RegExp(String.raw`^[1-9]\d{0,2}(?:(?:\.\d{3})+|(?:${spaces}\d{3})+)(?:,\d+)?$`),
}
const plain = { point: /^\d+(?:\.\d+)?$/, comma: /^\d+(?:,\d+)?$/ }
const separators = new RegExp(`${spaces}|[.,]`, 'g')

/**
 * Reads a number such as `1.001,50`, `1,001.50`, `1 001,50` or `12,5`, and returns it with a decimal point: `1001.50`. A text
 * that is not a number is not changed, so that the destination decides about it. `1,001` requires a form.
 */
export function readLocalNumber(given: string, form: NumberForm | undefined): LocalRead {
  const trimmed = given.trim()
  const sign = /^[+-]/.exec(trimmed)?.[0] ?? ''
  const text = trimmed.slice(sign.length)
  if (form !== undefined) {
    if (plain[form].test(text) || grouped[form].test(text)) return { text: sign + canonical(text, form) }
    // Programs write numbers with an exponent. A number without a point or comma is the same in both forms.
    if (form === 'point' || !/[.,]/.test(text)) return { text: given }
    return { wrong: 'is not a number with a decimal comma' }
  }
  if (plain.point.test(text)) return { text: given }
  const isPoint = grouped.point.test(text)
  const isComma = plain.comma.test(text) || grouped.comma.test(text)
  if (isPoint && isComma && canonical(text, 'point') !== canonical(text, 'comma')) {
    return {
      wrong:
        'can be read in two ways, as 1,001 can: say in the mapping how numbers are written, {"column": "…", "numbers": "comma"} or "point"',
    }
  }
  if (isPoint) return { text: sign + canonical(text, 'point') }
  return { text: isComma ? sign + canonical(text, 'comma') : given }
}

/** Removes the unit from a number such as `€ 9,90`, `-€9.90` or `12,5 %`. A text without the unit is not changed. */
export function withoutUnit(given: string, unit: string): string {
  const text = given.trim()
  if (text.endsWith(unit)) return text.slice(0, -unit.length).trimEnd()
  const sign = /^[+-]/.exec(text)?.[0] ?? ''
  const rest = text.slice(sign.length).trimStart()
  return rest.startsWith(unit) ? sign + rest.slice(unit.length).trimStart() : given
}

/** A number with a point and an exponent, as programs write it. */
const scientific = /^\d+\.\d+[eE][+-]?\d+$/

/**
 * Reads a text with a decimal comma and with a decimal point, and returns both with a point; undefined if it is not a number in
 * this form.
 */
export function numberReadings(given: string): { readonly [Form in NumberForm]: string | undefined } {
  const text = given.trim().replace(/^[+-]/, '')
  const read = (form: NumberForm) =>
    plain[form].test(text) || grouped[form].test(text) ? canonical(text, form) : undefined
  return { comma: read('comma'), point: scientific.test(text) ? text : read('point') }
}

/** The digits with a point before the decimals. */
function canonical(text: string, form: NumberForm): string {
  const at = text.lastIndexOf(form === 'comma' ? ',' : '.')
  // A sign that comes several times, or before the other one, groups digits.
  const isDecimal = at >= 0
  const whole = (isDecimal ? text.slice(0, at) : text).replace(separators, '')
  return isDecimal ? `${whole}.${text.slice(at + 1)}` : whole
}
