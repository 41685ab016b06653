import { isObject, type JsonObject, listIn, objectIn, textIn } from '../../platform-api/json.ts'
import { original } from './asked-keys.ts'
import { expressionOf, type Notes, note, noteGap, templateOf } from './texts.ts'

/** The records of a stream: their place, their changes, and their columns. */
export type ImportedRecords = {
  readonly records?: readonly string[]
  readonly recordsOptional?: true
  readonly changes?: readonly object[]
  readonly columns?: readonly string[]
}

/** Imports the selector, the transformations and the schema of a stream. @param keep expressions that records must meet first */
export function importRecords(stream: JsonObject, notes: Notes, keep: readonly string[]): ImportedRecords {
  const selector = objectIn(objectIn(stream.retriever).record_selector)
  const where = 'retriever.record_selector'
  const extractor = objectIn(selector.extractor)
  if (extractor.type !== undefined && extractor.type !== 'DpathExtractor') {
    note(notes, `${where}.extractor`, `${extractor.type} cannot be carried.`)
  }
  if (extractor.record_expander) note(notes, `${where}.extractor`, 'A record that is expanded cannot be carried.')
  const records = listIn(extractor.field_path)
    .map((one) => templateOf(one, notes, `${where}.extractor`))
    .filter((one) => one !== '')
  const filter = objectIn(selector.record_filter)
  const filters: { keep: string }[] = keep.map((one) => ({ keep: one }))
  if (filter.type !== undefined && filter.type !== 'RecordFilter') {
    note(notes, `${where}.record_filter`, `${filter.type} cannot be carried.`)
  } else if (filter.condition !== undefined && filter.condition !== '') {
    const condition = expressionOf(filter.condition, notes, `${where}.record_filter`, 'record')
    if (condition !== undefined) filters.push({ keep: condition })
  }
  const own = transformationsOf(stream, notes)
  const changes = selector.transform_before_filtering === true ? [...own, ...filters] : [...filters, ...own]
  const columns = columnsOf(stream, own, notes)
  return {
    ...(records.length > 0 && { records }),
    ...(!records.includes('*') && { recordsOptional: true as const }),
    ...(changes.length > 0 && { changes }),
    ...(columns.length > 0 && { columns }),
  }
}

function transformationsOf(stream: JsonObject, notes: Notes): object[] {
  return listIn(stream.transformations).flatMap((value, index) => {
    const transformation = objectIn(value)
    const where = `transformations[${index}]`
    const condition =
      transformation.condition === undefined || transformation.condition === ''
        ? undefined
        : expressionOf(transformation.condition, notes, where, 'record')
    switch (transformation.type) {
      case 'AddFields':
        return listIn(transformation.fields).flatMap((field) => addedField(objectIn(field), condition, notes, where))
      case 'RemoveFields':
        if (condition !== undefined) note(notes, where, 'Fields that are removed by a condition cannot be carried.')
        return listIn(transformation.field_pointers).map((pointer) => ({ remove: [pointer].flat().map(pathKey) }))
      case 'DpathFlattenFields': {
        const {
          field_path: path,
          delete_origin_value: isMoved,
          key_transformation: change,
          replace_record: isWhole,
        } = transformation
        if (isMoved !== true || change || isWhole === true)
          return [note(notes, where, 'Only fields that are moved to the top can be carried.') ?? {}]
        return [{ lift: listIn(path).map(String) }]
      }
      case 'KeysToLower':
        return [{ names: 'lower' }]
      case 'KeysToSnakeCase':
        return [{ names: 'snake' }]
      default:
        return [note(notes, where, `${transformation.type} cannot be carried.`) ?? {}]
    }
  })
}

/** A key of a pointer; `**` has no equivalent here. */
const pathKey = (key: unknown): string => String(key)

function addedField(field: JsonObject, condition: string | undefined, notes: Notes, where: string): object[] {
  const set = listIn(field.path).map((one) => templateOf(one, notes, where))
  const to = expressionOf(field.value, notes, where, 'record')
  if (to === undefined || set.length === 0) return []
  const kinds: Readonly<Record<string, string>> = {
    string: 'string',
    integer: 'number',
    number: 'number',
    boolean: 'bool',
  }
  const kind = kinds[textIn(field.value_type) ?? '']
  return [
    { set, to: kind === undefined ? to : `${kind}(${to})`, ...(condition === undefined ? {} : { if: condition }) },
  ]
}

/** The fields of the schema, and added ones, without removed ones. None if the schema is not part of the manifest. */
function columnsOf(stream: JsonObject, changes: readonly object[], notes: Notes): string[] {
  const schemas = [original(stream.schema_loader)].flat().map((loader) => objectIn(objectIn(loader).schema))
  const names = new Set(schemas.flatMap(({ properties }) => Object.keys(objectIn(properties))))
  if (names.size === 0) return []
  for (const change of changes) {
    if ('set' in change && Array.isArray(change.set)) names.add(String(change.set[0]))
    // A field that is set again after it was removed stays.
    if ('remove' in change && Array.isArray(change.remove) && change.remove.length === 1)
      names.delete(String(change.remove[0]))
  }
  const columns = [...names].filter((name) => name !== '' && name.length <= 200).slice(0, 1_000)
  const rest = names.size - columns.length
  if (rest > 0) noteGap(notes, 'schema_loader', `${rest} columns are left out: 1,000 fit, with 200 characters each.`)
  return columns
}

/** Whether a value is an object with keys. */
export const hasKeys = (value: unknown): value is JsonObject => isObject(value) && Object.keys(value).length > 0
