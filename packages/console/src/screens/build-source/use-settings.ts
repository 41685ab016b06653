import type { ResultOf } from '@penstock/client'
import type { FieldDefinition } from '@penstock/wire'
import { useMemo, useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import { useWrite } from '../../api/queries.ts'
import { errorsOf } from '../../components/fields/field-errors.ts'
import {
  changesOf,
  errorsOfForms,
  type FormField,
  type FormValue,
  type FormValues,
  valuesOf,
  withDefinitions,
} from '../../components/fields/form-field.ts'
import { notifyDone } from '../../components/notify.ts'
import { pathOf } from '../../shell/account.ts'
import { buildSource as say } from '../../strings/build-source.ts'
import type { ConnectorOfAccount } from '../connectors/of-account.ts'
import { baseOf, wordsOfValues } from '../connectors/versions.ts'

/** Where a refusal of the service names the fields of the configuration. */
export const basePath = 'body.secretConfig'

/** A configuration with its version. */
export type OpenedConfiguration = ResultOf<'getConnectorConfiguration'>

/** The values of a configuration while they are edited: what is typed, what is wrong with it, and how it is saved. */
export type SourceSettings = ReturnType<typeof useSettings>

/**
 * @param configuration the saved one, with which the screen begins
 * @param readAgain reads the saved one again; rejects if it cannot be read
 */
export function useSettings(
  of: ConnectorOfAccount,
  configuration: OpenedConfiguration,
  definitions: readonly FieldDefinition[],
  readAgain: () => Promise<OpenedConfiguration>,
) {
  const [opened, setOpened] = useState(configuration)
  const fields = useMemo(() => fieldsOf(opened, definitions), [opened, definitions])
  const [before, setBefore] = useState(() => valuesOf(fields))
  const [values, setValues] = useState<FormValues>(before)
  const [failure, setFailure] = useState<unknown>()
  const [judged, setJudged] = useState<Readonly<Record<string, string>>>({})
  const theirs = useRef<OpenedConfiguration>(undefined)
  const save = useWrite('configureConnector')
  const navigate = useNavigate()
  const changes = changesOf(before, values, fields)
  const { definition: wrongDefinition, ...fieldErrors } = { ...judged, ...errorsOf(failure, basePath) }

  /** Begins with a version of the configuration. */
  const begin = (version: OpenedConfiguration) => {
    const saved = valuesOf(fieldsOf(version, definitions))
    setOpened(version)
    setBefore(saved)
    setValues(saved)
    setFailure(undefined)
  }
  const isJudgedRight = (): boolean => {
    const wrong = errorsOfForms(fields, values)
    setJudged(wrong)
    setFailure(undefined)
    return Object.keys(wrong).length === 0
  }
  const store = async (version: string | undefined, secretConfig: ReturnType<typeof changesOf>) => {
    if (!isJudgedRight()) return
    try {
      const { configurationId } = of
      const body = { secretConfig, ...(configurationId === undefined ? {} : { configurationId }) }
      await save.mutateAsync({ accountId: of.accountId, id: of.connectorId, body, ifMatch: version })
      begin(await readAgain())
      const connect = pathOf(of.accountId, `connections/new?source=${of.connectorId}`)
      notifyDone(say.saved, () => navigate(connect), say.createConnection)
    } catch (error) {
      setFailure(error)
    }
  }
  return {
    fields,
    values,
    /** Values that differ from the saved ones, as requests send them. */
    changes,
    lastUpdated: opened.reply.lastUpdated,
    editable: opened.reply.editable,
    change: (field: string, value: FormValue) => {
      setJudged({})
      setFailure(undefined)
      setValues((now) => ({ ...now, [field]: value }))
    },
    fieldErrors,
    /** Why the service refuses the text of the definition, also if it names no place in it. */
    wrongDefinition,
    /** Why a request could not be sent, or the source could not be saved. */
    failure,
    fail: setFailure,
    /** Whether nothing that is typed is wrong already. The errors are shown at their fields. */
    isJudgedRight,
    save: () => store(opened.etag, changes),
    saving: save.isPending,
    /** For the comparison with a version that someone else saved. */
    versions: {
      mine: wordsOfValues(fields, before, values),
      readTheirs: async () => {
        theirs.current = await readAgain()
        return { version: theirs.current.etag, fields: wordsOfValues(fieldsOf(theirs.current, definitions)) }
      },
      onKeepTheirs: () => theirs.current && begin(theirs.current),
      onSaveMine: () => {
        if (!theirs.current) return
        const base = baseOf(before, fieldsOf(theirs.current, definitions))
        void store(theirs.current.etag, changesOf(base, values, fields))
      },
    },
  }
}

const fieldsOf = ({ reply }: OpenedConfiguration, definitions: readonly FieldDefinition[]): FormField[] =>
  withDefinitions(reply.secretConfig[0]?.configuration ?? [], definitions)
