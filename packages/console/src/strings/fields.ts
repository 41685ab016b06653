import type { FormField } from '../parts/fields/form-field.ts'

/** What forms say that are drawn from the definitions of a connector's fields. */
export const fields = {
  /** The definition's own help, and what else is to be known before something is typed. */
  help: ({ description, min, max, role, type }: FormField) =>
    [
      sentence(description),
      type === 'Number' && bounds(min, max),
      role && `Needed only where it is the ${role.toLowerCase()} of a connection.`,
    ]
      .filter(Boolean)
      .join(' '),
  /** The service's faults go on from the name of the field; that of one that is missing names it itself. */
  fault: (label: string, message: string) => {
    if (!/^\p{Ll}/u.test(message)) return message
    return sentence(`${label} ${message.endsWith(`: ${label}`) ? message.slice(0, -label.length - 2) : message}`)
  },
  faultsElsewhere: 'Other fields have to be mended first',
  required: (label: string) => `${label} (required)`,
  filledByService: 'Filled by the service',
  setByService: 'Set by the service',
  pick: 'Pick one',
  pickSome: 'Pick any',
  noOption: 'No choice is called that',
  set: 'Set',
  lastChanged: ', last changed',
  replace: 'Replace',
  replaceOne: (label: string) => `Replace: ${label}`,
  clearShort: 'Clear',
  clear: (label: string) => `Clear: ${label}`,
  cleared: 'Will be cleared once saved',
  keep: 'Keep what is set',
  keepOne: (label: string) => `Keep what is set: ${label}`,
  generate: 'Generate',
  generateOne: (label: string) => `Generate: ${label}`,
  copy: 'Copy',
  copyOne: (label: string) => `Copy: ${label}`,
  copied: 'Copied',
  copyNow: 'Copy it to where it is verified before you save: it is not shown again.',
  showTyped: (label: string) => `Show what was typed: ${label}`,
}

const sentence = (text: string) => (text === '' || /[.!?…]$/.test(text) ? text : `${text}.`)

function bounds(min: number | undefined, max: number | undefined): string | false {
  if (min !== undefined && max !== undefined) return `From ${min} to ${max}.`
  if (min !== undefined) return `At least ${min}.`
  return max !== undefined && `At most ${max}.`
}
