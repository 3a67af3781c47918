package main

import (
	"errors"
	"time"

	"gorm.io/datatypes"
	"gorm.io/gorm"
)

// author has many books, one address and many groups.
type author struct {
	ID        uint           `gorm:"primaryKey"`
	Email     string         `gorm:"size:80;not null;uniqueIndex:authors_email;comment:where letters go"`
	Kind      string         `gorm:"type:varchar(10);default:guest;check:authors_kind,kind IN ('guest','staff')"`
	Facts     datatypes.JSON `gorm:"type:jsonb"`
	Fee       float64        `gorm:"type:numeric(10,2);default:1.5"`
	Rank      *int16         `gorm:"index:authors_rank,sort:desc,where:rank > 0"`
	Active    bool           `gorm:"default:true;not null"`
	Photo     []byte
	Born      *time.Time `gorm:"type:date"`
	CreatedAt time.Time
	UpdatedAt time.Time
	DeletedAt gorm.DeletedAt `gorm:"index"`
	Books     []book         `gorm:"foreignKey:AuthorID;constraint:OnDelete:CASCADE"`
	Address   *address       `gorm:"constraint:OnUpdate:CASCADE,OnDelete:SET NULL"`
	Groups    []group        `gorm:"many2many:memberships"`
	Notes     []note         `gorm:"polymorphic:Owner"`
}

type address struct {
	ID       uint
	AuthorID *uint
	City     string `gorm:"index:addresses_city,expression:lower(city)"`
}

type book struct {
	ID       int64  `gorm:"autoIncrement"`
	AuthorID uint   `gorm:"not null;uniqueIndex:books_once"`
	Title    string `gorm:"not null;uniqueIndex:books_once;default:untitled"`
	Sold     int    `gorm:"not null;default:0"`
	Author   *author
	Notes    []note `gorm:"polymorphic:Owner"`
}

type group struct {
	Code    string   `gorm:"primaryKey;size:20"`
	Members []author `gorm:"many2many:memberships"`
}

// note belongs to a row of any table.
type note struct {
	ID        uint
	OwnerID   uint
	OwnerType string
	Text      string
}

// entry has a key of two columns, and an embedded part.
type entry struct {
	Year   int   `gorm:"primaryKey;autoIncrement:false"`
	Number int   `gorm:"primaryKey;autoIncrement:false"`
	Amount money `gorm:"embedded;embeddedPrefix:amount_"`
	Of     datatypes.Date
}

type money struct {
	Cents    int64
	Currency string `gorm:"type:varchar(3);default:'EUR'"`
}

var errRefused = errors.New("an author has an email address")

// BeforeCreate refuses authors without an email address.
func (a *author) BeforeCreate(*gorm.DB) error {
	if a.Email == "" {
		return errRefused
	}
	return nil
}

// AfterUpdate counts the changes of a book in a note, in the same transaction.
func (b *book) AfterUpdate(tx *gorm.DB) error {
	if b.ID == 0 {
		return nil
	}
	return tx.Create(&note{OwnerID: uint(b.ID), OwnerType: "books", Text: "changed"}).Error
}
