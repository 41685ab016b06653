import { Button, Card, Grid, Group, Radio, Stack, TextInput } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { type BodyOf, type Branding, readableOn } from '@penstock/wire'
import { type FormEvent, useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useWrite } from '../../api/queries.ts'
import { Failure } from '../../components/failure.tsx'
import { notifyDone } from '../../components/notify.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { branding as say } from '../../strings/branding.ts'
import { components } from '../../strings/components.ts'
import { ColourField, isColour } from './colour-field.tsx'
import { Contrast } from './contrast.tsx'
import { LogoField } from './logo-field.tsx'
import { Origins } from './origins.tsx'
import { Preview } from './preview.tsx'

const nameLengthMax = 100
/** Initial colour if there is none yet. */
const firstColour = '#005f9c'

/** The colours as they are entered. */
type Colours = {
  readonly own: boolean
  readonly primary: string
  readonly text: 'auto' | 'own'
  readonly ownText: string
}

const coloursOf = ({ colours }: Branding): Colours => {
  const primary = colours?.primary ?? firstColour
  const text = colours?.text ?? readableOn(primary)
  return { own: colours !== null, primary, text: text === readableOn(primary) ? 'auto' : 'own', ownText: text }
}

/** Changes the branding, beside how it looks. */
export function BrandingForm({
  opened,
  onSaved,
  onDiscard,
}: {
  opened: Branding
  onSaved: (branding: Branding) => void
  onDiscard: () => void
}) {
  const save = useWrite('setBranding')
  const forbidden = useForbidden('setBranding')
  const [name, setName] = useState(opened.name ?? '')
  const [logo, setLogo] = useState(opened.logo)
  const [colours, setColours] = useState(() => coloursOf(opened))
  const [origins, setOrigins] = useState<readonly string[]>(opened.allowedOrigins)
  const change = (part: Partial<Colours>) => setColours((now) => ({ ...now, ...part }))
  const { own, primary, text, ownText } = colours
  const textShown = text === 'auto' && isColour(primary) ? readableOn(primary) : ownText
  const isShowable = isColour(primary) && isColour(textShown)
  const shown = own && isShowable ? { primary, text: textShown } : null

  const errors = errorsOf(save.error, origins)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const body: BodyOf<'setBranding'> = {
      name: name.trim() || null,
      logo,
      colours: own ? { primary: primary.trim(), ...(text === 'own' ? { text: ownText.trim() } : {}) } : null,
      allowedOrigins: sentOf(origins).map(({ origin }) => origin),
    }
    const done = ({ reply }: { reply: Branding }) => {
      notifyDone(say.saved)
      onSaved(reply)
    }
    save.mutate({ body }, { onSuccess: done })
  }
  return (
    <Grid gap="lg" align="flex-start">
      <Grid.Col span={{ base: 12, lg: 6 }}>
        <form noValidate onSubmit={submit}>
          <Stack gap="lg">
            <Card withBorder padding="lg" component="section" aria-label={say.look}>
              <Stack>
                <TextInput
                  label={say.name}
                  description={say.nameHelp}
                  maxLength={nameLengthMax}
                  value={name}
                  error={errors.of('body.name')}
                  onChange={({ currentTarget }) => setName(currentTarget.value)}
                />
                <LogoField value={logo} error={errors.of('body.logo')} onChange={setLogo} />
                <Radio.Group
                  label={say.colours}
                  value={own ? 'own' : 'default'}
                  onChange={(choice) => change({ own: choice === 'own' })}
                >
                  <Stack gap="xs" mt={6}>
                    <Radio value="default" label={say.coloursDefault} />
                    <Radio value="own" label={say.coloursOwn} />
                  </Stack>
                </Radio.Group>
                {own && (
                  <>
                    <ColourField
                      label={say.primary}
                      help={say.primaryHelp}
                      value={primary}
                      error={errors.of('body.colours.primary')}
                      onChange={(next) => change({ primary: next })}
                    />
                    <Radio.Group
                      label={say.text}
                      value={text}
                      onChange={(choice) => change({ text: choice === 'own' ? 'own' : 'auto' })}
                    >
                      <Stack gap="xs" mt={6}>
                        <Radio value="auto" label={say.textAuto} />
                        <Radio value="own" label={say.textOwn} />
                      </Stack>
                    </Radio.Group>
                    {text === 'own' && (
                      <ColourField
                        label={say.textOwnLabel}
                        value={ownText}
                        error={errors.of('body.colours.text')}
                        onChange={(next) => change({ ownText: next })}
                      />
                    )}
                    {isShowable && (
                      <Contrast
                        primary={primary}
                        text={textShown}
                        onUse={(readable) => change({ text: 'own', ownText: readable })}
                      />
                    )}
                  </>
                )}
              </Stack>
            </Card>
            <Card withBorder padding="lg" component="section" aria-label={say.sites}>
              <Origins
                value={origins}
                errorOf={errors.ofOrigin}
                error={errors.of('body.allowedOrigins')}
                onChange={setOrigins}
              />
            </Card>
            {save.error && !errors.areShown && <Failure error={save.error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={onDiscard}>
                {say.discard}
              </Button>
              <ReasonedButton type="submit" loading={save.isPending} reason={forbidden}>
                {components.save}
              </ReasonedButton>
            </Group>
          </Stack>
        </form>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 6 }} style={{ position: 'sticky', top: 72 }}>
        <Preview brand={{ organizationName: name.trim() || say.organization, logo, colours: shown }} />
      </Grid.Col>
    </Grid>
  )
}

/** The origins to send: each once, without empty ones, with its row. */
const sentOf = (origins: readonly string[]) =>
  origins
    .map((origin, row) => ({ origin: origin.trim(), row }))
    .filter(({ origin }, row, all) => origin !== '' && all.findIndex((one) => one.origin === origin) === row)

/** Errors of the service by field; for origins, by the row that they were sent from. */
function errorsOf(error: unknown, origins: readonly string[]) {
  const details = error instanceof PenstockError ? error.details : []
  const of = (field: string) => {
    const message = details.find((one) => one.field === field)?.message
    return message && `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
  }
  const rows = sentOf(origins).map(({ row }) => row)
  const fields = ['body.name', 'body.logo', 'body.colours.primary', 'body.colours.text', 'body.allowedOrigins']
  return {
    of,
    ofOrigin: (row: number) => (rows.includes(row) ? of(`body.allowedOrigins.${rows.indexOf(row)}`) : undefined),
    areShown:
      details.length > 0 &&
      details.every(({ field }) => fields.includes(field) || /^body\.allowedOrigins\.\d+$/.test(field)),
  }
}
