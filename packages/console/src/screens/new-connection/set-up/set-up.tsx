import { Button, Card, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { limits, uploadedFileConnectorId } from '@penstock/wire'
import { type FormEvent, useMemo, useRef, useState } from 'react'
import { useWrite } from '../../../api/queries.ts'
import { Changed, isChanged } from '../../../components/changed.tsx'
import { Failure } from '../../../components/failure.tsx'
import { errorsOf, isOfFields } from '../../../components/fields/field-errors.ts'
import { missingIn } from '../../../components/fields/form-field.ts'
import { Lines } from '../../../components/loaded.tsx'
import { notifyDone } from '../../../components/notify.ts'
import { titleOfFile } from '../../../components/use-upload.ts'
import { connectionSet as saySet } from '../../../strings/connection-set.ts'
import { fields as sayFields } from '../../../strings/fields.ts'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { waysOf } from '../../connection/consequence.ts'
import { ConsequenceCard } from '../../connection/consequence-card.tsx'
import { distinctNames, placesOf } from '../../connection/places.ts'
import { StartsAfresh } from '../../connection/starts-afresh.tsx'
import { wordsOfValues } from '../../connectors/versions.ts'
import { BothDefinitions, type Definitions } from '../both-definitions.tsx'
import { type Copied, CopiedSettings } from '../set/copied-settings.tsx'
import { GoOnWithout } from '../set/go-on-without.tsx'
import { fieldsOfSide, isTyped, type SideKey, settingsToSend, sideOf, sides, valuesNow } from '../settings.ts'
import { useWizard } from '../wizard.ts'
import { TableNames } from './names-card.tsx'
import { useProposedCursor, useProposedKey, useProposedTable, useProposedUpload, useRowEstimate } from './proposals.ts'
import { SideCard } from './side-card.tsx'
import { useSide } from './use-side.ts'

const prefixes = { src: 'body.srcConnectionConfig', dest: 'body.destConnectionConfig' } as const

/** The third step: the name of the connection and the settings of both its sides. At its end the connection is there. */
export function SetUp() {
  const wizard = useWizard()
  return (
    <BothDefinitions src={wizard.sourceId} dest={wizard.destinationId}>
      {(definitions) =>
        wizard.connectionId !== '' && !wizard.connection ? (
          <Lines lines={6} />
        ) : (
          <CopiedSettings dest={definitions.dest}>
            {(copied) => (
              <Form
                key={`${wizard.connectionId} ${wizard.destinationId} ${wizard.target?.configurationId}`}
                definitions={definitions}
                copied={copied}
              />
            )}
          </CopiedSettings>
        )
      }
    </BothDefinitions>
  )
}

/** @param copied what the next connection of a set has from the one before; undefined otherwise */
function Form({ definitions, copied }: { definitions: Definitions; copied: Copied | undefined }) {
  const wizard = useWizard()
  const { accountId, connection, connectionId, draft, keys, go, drop, set, target } = wizard
  const create = useWrite('createConnection')
  const update = useWrite('updateConnection')
  const label = useWrite('setConnectionLabels')
  const [failure, setFailure] = useState<unknown>()
  const [missing, setMissing] = useState(noErrors)
  const of = (key: SideKey) => {
    const role = key === 'src' ? 'Source' : 'Destination'
    const saved = connection?.[`${key}ConnectionConfig`] ?? copied?.[key]
    const fields = fieldsOfSide(sideOf(definitions[key], role).fields, saved)
    const typed = draft.settings[keys[key]]
    return { fields, values: valuesNow(fields, typed), saved, typed: isTyped(fields, typed) }
  }
  const form = { src: of('src'), dest: of('dest') }
  /** The configuration that was picked; undefined: that of the connection, or the first one. */
  const picked = (key: SideKey) =>
    draft.texts[keys[`${key}Configuration`]] ?? (key === 'src' ? copied?.srcConfigurationId : target?.configurationId)
  const used = {
    src: useSide(definitions.src, 'Source', picked('src') ?? connection?.srcConfigurationId),
    dest: useSide(definitions.dest, 'Destination', picked('dest') ?? connection?.destConfigurationId),
  }
  const rows = useRowEstimate(form.src, used.src.discovery, waysOf(form.src, form.dest)?.read === 'all')
  const named = {
    src: { name: used.src.name, values: form.src.values },
    dest: { name: used.dest.name, values: form.dest.values },
  }
  const { source, destination } = distinctNames(named.src, named.dest) ?? {
    source: used.src.name,
    destination: used.dest.name,
  }
  const usualName = say.usualName(source, destination).slice(0, limits.nameLengthMax)
  const name = draft.texts[keys.name] ?? connection?.name ?? usualName
  const switched = (['src', 'dest'] as const).filter(
    (key) => picked(key) !== undefined && picked(key) !== connection?.[`${key}ConfigurationId`],
  )
  const changed =
    form.src.typed ||
    form.dest.typed ||
    (connection !== undefined && (name.trim() !== connection.name || switched.length > 0))
  const pickUpload = (upload: { id: string; name: string }) => {
    wizard.setValue(keys.src, 'upload', upload.id)
    if (connectionId === '') wizard.setText(keys.name, titleOfFile(upload.name))
  }
  useProposedUpload(form.src, pickUpload)
  useProposedTable(
    { connection: draft.texts[keys.name] ?? '', source: used.src.name },
    form.src.values,
    form.dest,
    definitions.src.connectorId === definitions.dest.connectorId && used.src.other === used.dest.other,
  )
  useProposedCursor(form.src, used.src.discovery)
  useProposedKey(form, { src: used.src.discovery, dest: used.dest.discovery })
  const body = {
    ...Object.fromEntries(switched.map((key) => [`${key}ConfigurationId`, picked(key)])),
    name: name.trim(),
    srcConnectionConfig: settingsToSend(form.src.fields, form.src.values, form.src.saved),
    destConnectionConfig: settingsToSend(form.dest.fields, form.dest.values, form.dest.saved),
  }
  const fieldErrors = useMemo(
    () => ({
      src: { ...missing.src, ...errorsOf(failure, prefixes.src) },
      dest: { ...missing.dest, ...errorsOf(failure, prefixes.dest) },
    }),
    [failure, missing],
  )
  /** Whether required settings have values; the first one without a value gets the focus. */
  const isComplete = () => {
    const found = {
      src: missingIn(form.src.fields, form.src.values, 'Source', sayFields.missing),
      dest: missingIn(form.dest.fields, form.dest.values, 'Destination', sayFields.missing),
    }
    setMissing(found)
    return Object.keys({ ...found.src, ...found.dest }).length === 0
  }
  const nameError =
    failure instanceof PenstockError ? failure.details.find(({ field }) => field === 'body.name') : undefined
  const once = useOnce()
  const typedKeys = [keys.name, keys.src, keys.dest, keys.srcConfiguration, keys.destConfiguration]

  const save = async (ifMatch: string | undefined) => {
    setFailure(undefined)
    try {
      if (connectionId === '') {
        const ids = { srcConnectorId: wizard.sourceId, destConnectorId: wizard.destinationId }
        const { reply } = await create.mutateAsync({
          accountId,
          body: { ...body, ...ids },
          idempotencyKey: once(JSON.stringify({ ...body, ...ids })),
        })
        // A repeated request of the same connection gets the same answer, so a tag that was not saved is set again.
        if (set) await label.mutateAsync({ accountId, id: reply.id, body: { tags: [set] } })
        notifyDone(say.created(reply.name))
        wizard.goCreated(reply.id)
      } else {
        await update.mutateAsync({ accountId, id: connectionId, body, ifMatch })
        go('mapping')
      }
      drop(...typedKeys)
    } catch (error) {
      setFailure(error)
    }
  }
  const submit = (event: FormEvent) => {
    // Forms of drawers stand elsewhere in the page, and their events come here all the same.
    if (event.target !== event.currentTarget) return
    event.preventDefault()
    setFailure(undefined)
    if (!isComplete()) return
    if (connectionId !== '' && !changed) go('mapping')
    else void save(wizard.etag)
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="lg">
        {copied && (
          <Text size="sm" c="dimmed">
            {saySet.copied(copied.name)}
          </Text>
        )}
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
          {sides.map((side) => (
            <SideCard
              key={side.key}
              side={side}
              definition={definitions[side.key]}
              fields={form[side.key].fields}
              values={form[side.key].values}
              fieldErrors={fieldErrors[side.key]}
              used={used[side.key]}
              onConfiguration={(configurationId) => wizard.setText(keys[`${side.key}Configuration`], configurationId)}
              onUploaded={pickUpload}
              onChange={(field, value) => wizard.setValue(keys[side.key], field, value)}
            />
          ))}
        </SimpleGrid>
        <ConsequenceCard
          source={form.src}
          destination={form.dest}
          names={{ ...placesOf(named.src, named.dest), rows }}
          isReadOnce={wizard.sourceId === uploadedFileConnectorId}
          onSet={(side, field, value) => wizard.setValue(keys[side], field, value)}
          onKey={isComplete}
        />
        <TableNames source={form.src.values} destination={form.dest.values} />
        <Card withBorder>
          <TextInput
            label={say.name}
            required
            maxLength={limits.nameLengthMax}
            value={name}
            error={nameError?.message}
            onChange={({ currentTarget }) => wizard.setText(keys.name, currentTarget.value)}
            maw={640}
          />
        </Card>
        {connection && (
          <StartsAfresh
            connection={connection}
            changes={{
              src: { ...form.src, configurationId: picked('src') ?? connection.srcConfigurationId },
              dest: { ...form.dest, configurationId: picked('dest') ?? connection.destConfigurationId },
            }}
          />
        )}
        {isChanged(failure) ? (
          <Changed
            mine={{
              [say.name]: name,
              ...labelled(say.source, wordsOfValues(form.src.fields, form.src.values)),
              ...labelled(say.destination, wordsOfValues(form.dest.fields, form.dest.values)),
            }}
            readTheirs={async () => {
              const { data } = await wizard.reading.refetch({ throwOnError: true })
              const theirs = (key: SideKey) =>
                wordsOfValues(
                  fieldsOfSide(
                    sideOf(definitions[key], key === 'src' ? 'Source' : 'Destination').fields,
                    data?.reply[`${key}ConnectionConfig`],
                  ),
                )
              return {
                version: data?.etag,
                fields: {
                  [say.name]: data?.reply.name ?? '',
                  ...labelled(say.source, theirs('src')),
                  ...labelled(say.destination, theirs('dest')),
                },
              }
            }}
            onKeepTheirs={() => {
              drop(...typedKeys)
              setFailure(undefined)
            }}
            onSaveMine={(version) => void save(version)}
          />
        ) : (
          failure !== undefined &&
          !nameError &&
          !isOfFields(failure, prefixes.src, prefixes.dest) && <Failure error={failure} />
        )}
        {failure !== undefined && connectionId === '' && <GoOnWithout name={used.dest.name} />}
        <Group gap="sm">
          {connectionId === '' && (
            <Button variant="default" onClick={() => go('destination')}>
              {say.back}
            </Button>
          )}
          <Button type="submit" loading={create.isPending || update.isPending || label.isPending}>
            {connectionId === '' ? say.create : changed ? say.saveAndContinue : say.goToMapping}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const noErrors: Readonly<Record<SideKey, Readonly<Record<string, string>>>> = { src: {}, dest: {} }

const labelled = (side: string, words: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(words).map(([label, value]) => [`${side} · ${label}`, value]))

/** A key for what is to be made once, however often the same is sent: an answer may be lost on its way. */
function useOnce(): (body: string) => string {
  const last = useRef<{ body: string; key: string }>(undefined)
  return (body) => {
    if (last.current?.body !== body) {
      const random = crypto.getRandomValues(new Uint32Array(4))
      last.current = { body, key: [...random].map((part) => part.toString(36)).join('-') }
    }
    return last.current.key
  }
}
