import { column, type Records, text } from '@penstock/connector'
import { filePreset } from '../kit/file-preset.ts'
import { idTypes, membershipLines, namesOf } from './membership-lines.ts'
import { lotame } from './platform.ts'

const identifiers: Records = Object.fromEntries(
  Object.entries(idTypes).map(([type, is]) => [
    type,
    column({ description: `Identifier of the person: ${is}`, oneOf: 'identifier' }),
  ]),
)

/** Audience data for Lotame, as files in Amazon S3. */
export const lotameAudiences = filePreset({
  slug: 'lotame-audiences',
  name: 'Lotame Audiences',
  platform: lotame,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Delivers the segments of people, and where they were seen, to Lotame by files in Amazon S3.',
  notes:
    'From Lotame’s public documents “Data File Specifications”, “Sending Behaviors to Spherical” and “Sending Sightings Data Only” (my.lotame.com): the names of the three files, their contents, and consent. To be confirmed with Lotame: the bucket, which is yours or one of Lotame’s, the two client directories, which end the output path, and whether files are comprehensive. E-mail addresses may only go to a bucket of Lotame’s. A transfer writes segmentmembership.json.gz, its MD5 checksum and the .done file into the folder YYYYMMDD of the day on which it began, in UTC; Lotame takes one set of files a day, so a second transfer of a day is refused. Each identifier of a row becomes a line; Lotame wants an identifier once in a file, so give one row for each person. Lotame skips records without consent, and so these rows are rejected. Files have at most 5 GB. Lotame reports nothing back: rows count as accepted when they are in the bucket. A transfer that was stopped leaves no .done file, without which Lotame takes nothing. The files that Lotame delivers are read with the Amazon S3 Source: no public document has their contents.',
  tested: 'An S3 server from npm, fauxqs 2.4.1, with files in the documented layout; not Lotame itself.',
  api: { version: 'files in Amazon S3, by its REST API of 1 March 2006', ends: 'no end is announced' },
  secrets: {
    clientDir: text({
      keepsState: 'credential',
      label: 'Client directory',
      description: 'Not needed: enter the directories from Lotame at the end of the output path of a connection',
    }),
  },
  destination: {
    fields: {},
    records: {
      userId: column({ description: 'Identifier of the person, of the kind in idType', oneOf: 'identifier' }),
      idType: column({ description: 'Kind of the identifier in userId, as Lotame names it, such as IDFA' }),
      audienceSegments: column({
        addresses: true,
        description:
          'Segments of the person: names separated by commas, or a JSON list of names, or of objects with a name and a timestamp in seconds',
      }),
      ips: column({ description: 'JSON list of IP addresses, version 4, with the times at which the person was seen' }),
      consent: column({
        description: 'Whether the person has agreed to it: true; needed unless there is a TCF string',
      }),
      tcfConsent: column({ description: 'TCF consent string of the person, in place of consent' }),
      ...identifiers,
    },
    name: (_, startedMs) => namesOf(startedMs).file,
    completion: (startedMs) => namesOf(startedMs),
    line: membershipLines,
    gzip: true,
  },
})
