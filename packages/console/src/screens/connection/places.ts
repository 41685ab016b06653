import type { FormValues } from '../../components/fields/form-field.ts'
import { consequence as say } from '../../strings/consequence.ts'

/** One side of a connection: the name of its configuration or connector, and its settings. */
type Side = { readonly name: string; readonly values: FormValues }
type Places = { readonly source: string; readonly destination: string }

/** Names that tell two sides apart: their own, or the names of their tables if both sides have one name; undefined: the tables have one name too. */
export function distinctNames(src: Side, dest: Side): Places | undefined {
  if (src.name !== dest.name) return { source: src.name, destination: dest.name }
  const [source, destination] = [tableOf(src), tableOf(dest)]
  return source !== '' && destination !== '' && source !== destination ? { source, destination } : undefined
}

/** The two sides as sentences call them: by names that tell them apart, otherwise *the source* and *the destination*. */
export const placesOf = (src: Side, dest: Side): Places =>
  distinctNames(src, dest) ?? { source: say.theSource, destination: say.theDestination }

const tableOf = ({ values }: Side): string => String(values.table ?? '').trim()
