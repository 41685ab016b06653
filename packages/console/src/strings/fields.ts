import type { ReadMeaning, WriteMeaning } from '@penstock/wire'
import type { FormField } from '../components/fields/form-field.ts'

/** The texts of forms that are generated from the definitions of a connector's fields. */
export const fields = {
  /** The help of the definition, and the limits and roles of the field. */
  help: ({ description, min, max, role, type }: FormField) =>
    [
      sentence(description),
      type === 'Number' && bounds(min, max),
      role && `Required only for the ${role.toLowerCase()} of a connection.`,
    ]
      .filter(Boolean)
      .join(' '),
  /** A message of the service continues the name of the field, except the one for a missing field, which contains it. */
  fieldError: (label: string, message: string) => {
    if (!/^\p{Ll}/u.test(message)) return message
    return sentence(`${label} ${message.endsWith(`: ${label}`) ? message.slice(0, -label.length - 2) : message}`)
  },
  missing: 'Enter a value.',
  advanced: 'Advanced',
  changed: (n: number) => `${n} changed`,
  reset: 'Reset',
  resetOne: (label: string) => `Reset: ${label}`,
  mirror: 'Mirror',
  meaning: {
    all: 'Reads everything each time.',
    new: 'Reads each file once, and again if it changes.',
    changed: 'Reads only rows that are new or changed since the last transfer. Does not see deleted rows.',
    log: 'Sees every change and deletion. The server must keep a log.',
    add: 'Adds each row that is read, also if it exists.',
    update: 'Updates the row with the same key, or adds it.',
    replace: 'Replaces all rows of the destination.',
    mirror: 'Updates by key, and removes rows that left the source.',
  } satisfies Record<ReadMeaning | WriteMeaning, string>,
  errorsElsewhere: 'Fix the other fields first',
  required: (label: string) => `${label} (required)`,
  filledByService: 'Filled by the service',
  setByService: 'Set by the service',
  pick: 'Select one',
  pickSome: 'Select any',
  noOption: 'No matching options',
  set: 'Set',
  lastChanged: ', last changed',
  asValue: 'Value',
  asReference: 'Reference',
  kindOfSecret: (label: string) => `${label}: value or reference to a secret manager`,
  referenceExample: 'secret://vault/penstock/ads#token',
  replace: 'Replace',
  replaceOne: (label: string) => `Replace: ${label}`,
  clearShort: 'Clear',
  clear: (label: string) => `Clear: ${label}`,
  cleared: 'Will be cleared when you save',
  keep: 'Keep the saved value',
  keepOne: (label: string) => `Keep the saved value: ${label}`,
  generate: 'Generate',
  generateOne: (label: string) => `Generate: ${label}`,
  copy: 'Copy',
  copyOne: (label: string) => `Copy: ${label}`,
  copied: 'Copied',
  copyNow: 'Before you save, copy it to the system that verifies it. It is not shown again.',
  showTyped: (label: string) => `Show the value: ${label}`,
}

/** A text that ends as a sentence. */
export const sentence = (text: string) => (text === '' || /[.!?…]$/.test(text) ? text : `${text}.`)

function bounds(min: number | undefined, max: number | undefined): string | false {
  if (min !== undefined && max !== undefined) return `From ${min} to ${max}.`
  if (min !== undefined) return `At least ${min}.`
  return max !== undefined && `At most ${max}.`
}
