import { column } from '@penstock/connector'

const unit = (type: string, description: string) =>
  column({ kind: 'column', type, reports: ['inventory_units_data'], description })

/** Columns of the two tables that Outfront gives: its units, and when each of them is free. */
export const inventoryColumns = {
  unique_id: column({
    kind: 'column',
    type: 'string',
    reports: ['inventory_units_data', 'inventory_avails_data'],
    description: 'ID of the unit, which joins the two tables',
  }),
  geopath_spot_id: unit('int64', 'Number of the spot at Geopath'),
  geopath_frame_id: unit('int64', 'Number of the frame at Geopath'),
  location_description: unit('string', 'Description of the location of the unit'),
  media_format: unit('string', 'Format of the unit, such as Bulletin'),
  latitude: unit('float64', 'Latitude of the unit, in degrees'),
  longitude: unit('float64', 'Longitude of the unit, in degrees'),
  is_digital: unit('string', 'Whether the unit is a digital screen'),
  unit: unit('string', 'Outfront’s number of the unit'),
  market: unit('string', 'Market of the unit'),
  size: unit('string', 'Height and width of the unit'),
  illumination: unit('string', 'Whether the unit is lit'),
  illumination_hours: unit('string', 'Hours during which the unit is lit'),
  facing: unit('string', 'Direction in which the unit faces'),
  primary_read: unit('string', 'Side from which most people read the unit'),
  no_faces: unit('int64', 'Number of faces'),
  net_install_cost: unit('int64', 'Net cost of installing'),
  net_copy_change_cost: unit('float64', 'Net cost of changing the artwork'),
  net_production_cost: unit('float64', 'Net cost of production'),
  production_forced: unit('string', 'Whether production has to be bought from Outfront'),
  net_rate: unit('int64', 'Net price for one rate cycle'),
  rate_cycle: unit('string', 'Period to which the net rate applies'),
  digital_spot_length: unit('int64', 'Length of one spot on a digital screen'),
  number_of_spots: unit('int64', 'Number of spots in the loop'),
  image_url: unit('string', 'Address of a picture of the unit'),
  spec_sheet_url: unit('string', 'Address of the sheet with the specifications'),
  imp_18p: unit('int64', 'Impressions among people aged 18 and over'),
  marketing_info: unit('string', 'Outfront’s marketing text on the unit'),
  production_spec: unit('string', 'Requirements for artwork'),
  package_name: unit('string', 'Package in which the unit is sold'),
  restrictions: unit('string', 'What must not be advertised on the unit'),
  enabled_for_automation: unit('string', 'Whether the unit can be bought automatically'),
  active_date: unit('string', 'Day from which the unit is offered'),
  inactive_date: unit('string', 'Day from which the unit is no longer offered'),
  dates: column({
    kind: 'column',
    type: 'struct',
    reports: ['inventory_avails_data'],
    description: 'Dates, each with the availability of the unit',
  }),
}
